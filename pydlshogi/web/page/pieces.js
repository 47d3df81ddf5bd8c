// How the pieces look: for each game the markup of every piece, 100 wide, as its owner sees it. No font is needed.
import { GLYPHS } from './glyphs.js'

const KANJI = {
  K: '玉', R: '飛', B: '角', G: '金', S: '銀', N: '桂', L: '香', P: '歩',
  '+R': '龍', '+B': '馬', '+S': '全', '+N': '圭', '+L': '杏', '+P': 'と'
}
const PAIRS = {
  K: '王将', R: '飛車', B: '角行', G: '金将', S: '銀将', N: '桂馬', L: '香車', P: '歩兵',
  '+R': '龍王', '+B': '龍馬', '+S': '成銀', '+N': '成桂', '+L': '成香', '+P': 'と金'
}
const SIZES = { K: 1, R: 0.97, B: 0.97, G: 0.93, S: 0.93, N: 0.9, L: 0.86, P: 0.82 }

/** A piece of wood with one letter on it, or two, one above the other. */
function wooden (piece, letters) {
  const size = SIZES[piece.at(-1)]
  const places = letters.length === 1 ? [[4, 0.58, 0.66]] : [[-13, 0.4, 0.38], [22, 0.4, 0.38]]
  return `<path class="wood" transform="scale(${size})" d="M0-46 28-35 40 43Q0 47-40 43L-28-35z"/>` +
    places.map(([y, wide, high], place) => `<path class="${piece[0] === '+' ? 'promoted' : 'ink'}" d="${GLYPHS[letters[place]]}" ` +
      `transform="scale(${size})translate(0 ${y})scale(${wide} ${high})"/>`).join('')
}

// Where an animal may go: directions clockwise from straight ahead.
const STEPS = { K: [0, 1, 2, 3, 4, 5, 6, 7], B: [1, 3, 5, 7], R: [0, 2, 4, 6], P: [0], '+P': [0, 1, 2, 4, 6, 7] }
const TILES = { K: '#ffd8d0', B: '#dce9fb', R: '#dce9fb', P: '#e2f4d3' }
const DIRECTIONS = [[0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]]

const circle = (x, y, r, fill) => `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}"/>`
const pair = (x, y, r, fill) => circle(-x, y, r, fill) + circle(x, y, r, fill)
const eyes = (x, y) => pair(x, y, 3.5, '#222')

const FACES = {
  K: DIRECTIONS.map(([x, y]) => circle(20 * x / Math.hypot(x, y), 20 * y / Math.hypot(x, y), 12, '#c76a20')).join('') +
    circle(0, 0, 21, '#ffc84f') + eyes(8, -5) + '<path d="M-5 5h10l-5 6z" fill="#5a2d0c"/>',
  B: pair(22, -4, 14, '#8ea6be') + circle(0, -5, 20, '#a9bfd4') + eyes(8, -9) +
    '<path d="M-6 2h12v20q0 8 8 6v6q-20 4-20-12z" fill="#a9bfd4" stroke="#8ea6be" stroke-width="2"/>',
  R: '<path d="M-8-22v-12M8-22v-12" stroke="#8a5a22" stroke-width="4"/>' + pair(8, -34, 4.5, '#8a5a22') +
    '<path d="M-15-24h30l-5 42q-1 12-10 12t-10-12z" fill="#f7d25f"/>' + pair(8, 4, 4, '#c98a35') +
    circle(0, -15, 4, '#c98a35') + eyes(8, -6) + pair(3, 23, 2, '#5a3b16'),
  P: circle(0, 2, 25, '#ffe155') + pair(15, 8, 5, '#ffb784') + eyes(8, -4) +
    '<path d="M-7 5h14l-7 9z" fill="#f5831f"/>',
  '+P': pair(7, -26, 8, '#de3b30') + circle(0, -28, 8, '#de3b30') + circle(0, 2, 25, '#fff') + eyes(8, -5) +
    '<path d="M-7 3h14l-7 9z" fill="#f5971f"/>' + circle(0, 18, 5, '#de3b30')
}

function tile (piece) {
  const dots = STEPS[piece].map(way => circle(38 * DIRECTIONS[way][0], 38 * DIRECTIONS[way][1], 4, '#c8352a')).join('')
  const square = `<rect x="-45" y="-45" width="90" height="90" rx="12" fill="${TILES[piece.at(-1)]}"/>`
  return square.replace('/>', ' stroke="#6b4a1b" stroke-width="2"/>') + FACES[piece] + dots
}

const drawn = (pieces, draw) => Object.fromEntries(Object.entries(pieces).map(([piece, what]) => [piece, draw(piece, what)]))

const DISC = '<circle r="41" stroke="#0008" stroke-width="2"/>' // its colour is that of its side

/** How games look: the markup of their pieces, that of a set with two letters if there is one, how much higher than wide a
 * square is, where on the lines the stars are, the sound of a move, the picture on the card if that is not the first piece,
 * and what else `learnLooks` takes in. */
export const LOOKS = {
  shogi: { pieces: drawn(KANJI, wooden), pairs: drawn(PAIRS, wooden), ratio: 1.08, stars: [3, 6] },
  dobutsu: { pieces: drawn(FACES, tile) },
  othello: {
    pieces: { D: DISC },
    stars: [2, 6],
    sound: 'stone',
    picture: `<g transform="translate(-14 -8)scale(.8)" class="black">${DISC}</g>` +
      `<g transform="translate(14 10)scale(.8)" class="white">${DISC}</g>`
  }
}

/** Take in what the games say: see `Look` in entry.py. */
export function learnLooks (games) {
  for (const [name, { look, inDiscs }] of Object.entries(games)) {
    LOOKS[name] = { ratio: 1, sound: 'piece', ...look, ...LOOKS[name], hand: look.hand ? 104 : 0, inDiscs }
  }
}
