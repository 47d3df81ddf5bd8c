// Positions and moves as text. Nothing here knows the rules: what is legal, and what follows a move, comes from the server.

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

export const isBlack = piece => piece.at(-1) === piece.at(-1).toUpperCase()

/** What to colour as the last move: its squares. A hand is none: after a drop the same name is the other side's. */
export function touched (move) {
  return move ? [split(move).from, split(move).to].filter(square => !square.endsWith('*')) : []
}
