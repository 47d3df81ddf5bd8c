// Positions and moves as text. Nothing here knows the rules: what is legal comes from the server.

const LETTERS = 'abcdefghi'
const OTHELLO = 8 // rows; its squares are named as in chess

/** The parts of a move such as 7g7f, 8h2b+, P*5e, f5 or pass: {from, to, promotes}; from is P* for a drop. */
export function split (move) {
  const found = /^([A-Z]\*|\d\w)?(\d\w|\w\d)(\+?)$/.exec(move)
  return found ? { from: found[1] ?? '', to: found[2], promotes: found[3] === '+' } : { from: '', to: '', promotes: false }
}

/** An sfen as {rows: letters of each square from the top left, turn: b or w, hands: {b: [[letter, count]], w: ...}}. */
export function read (sfen) {
  const [board, turn, held] = sfen.split(' ')
  const rows = board.split('/').map(row => [...row.matchAll(/\+?[A-Za-z]|\d+/g)].flatMap(([token]) =>
    /\d/.test(token) ? Array(Number(token)).fill('') : [token]))
  const hands = { b: [], w: [] }
  for (const [, count, letter] of held.matchAll(/(\d*)([A-Za-z])/g)) {
    hands[isBlack(letter) ? 'b' : 'w'].push([letter.toUpperCase(), Number(count || 1)])
  }
  return { rows, turn, hands }
}

/** The sfen, without a move number, of what `read` gives. */
export function write ({ rows, turn, hands }) {
  const board = rows.map(row => row.map(piece => piece || ' ').join('').replace(/ +/g, gap => String(gap.length)))
  const held = ['b', 'w'].map(side => hands[side].map(([letter, count]) =>
    (count > 1 ? count : '') + (side === 'b' ? letter : letter.toLowerCase())).join('')).join('')
  return `${board.join('/')} ${turn} ${held || '-'}`
}

/** The sfen after a move that is known to be legal: pieces move, are taken and dropped. */
export function after (sfen, move) {
  const position = read(sfen)
  const { rows, turn } = position
  const { from, to, promotes } = split(move)
  position.turn = turn === 'b' ? 'w' : 'b'
  if (!from) {
    if (to) putDisc(rows, place(to, rows), turn === 'b' ? 'D' : 'd')
    return write(position)
  }
  const [x, y] = place(to, rows)
  const hand = new Map(position.hands[turn])
  const add = (letter, count) => hand.set(letter, (hand.get(letter) || 0) + count)
  let piece
  if (from.endsWith('*')) {
    piece = turn === 'b' ? from[0] : from[0].toLowerCase()
    add(from[0], -1)
  } else {
    const [fromX, fromY] = place(from, rows)
    piece = (promotes ? '+' : '') + rows[fromY][fromX]
    rows[fromY][fromX] = ''
    if (rows[y][x]) add(rows[y][x].at(-1).toUpperCase(), 1)
  }
  rows[y][x] = piece
  position.hands[turn] = [...hand].filter(([, count]) => count > 0)
  return write(position)
}

/** Put a disc on a square, and turn those that it encloses. */
function putDisc (rows, [x, y], disc) {
  rows[y][x] = disc
  if (rows.length !== OTHELLO) return // in other games nothing turns
  for (const [dx, dy] of [[0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]]) {
    let steps = 1
    while (rows[y + dy * steps]?.[x + dx * steps] && rows[y + dy * steps][x + dx * steps] !== disc) steps++
    if (rows[y + dy * steps]?.[x + dx * steps] !== disc) continue
    while (--steps) rows[y + dy * steps][x + dx * steps] = disc
  }
}

/** Column and row of a square's name, both from the top left. */
export function place (name, rows) {
  if (rows.length === OTHELLO) return [LETTERS.indexOf(name[0]), Number(name[1]) - 1]
  return [rows[0].length - Number(name[0]), LETTERS.indexOf(name[1])]
}

/** The name of a column, and that of a row, from the top left. */
export function columnName (x, rows) {
  return rows.length === OTHELLO ? LETTERS[x] : String(rows[0].length - x)
}

export function rowName (y, rows) {
  return rows.length === OTHELLO ? String(y + 1) : LETTERS[y]
}

/** The name of the square in a column and a row. */
export function nameOf (x, y, rows) {
  return columnName(x, rows) + rowName(y, rows)
}

export function isBlack (piece) {
  const letter = piece.at(-1)
  return letter === letter.toUpperCase()
}

/** What to colour as the last move: its squares. A hand is none: after a drop the same name is the other side's. */
export function touched (move) {
  return move ? [split(move).from, split(move).to].filter(square => !square?.endsWith('*')) : []
}
