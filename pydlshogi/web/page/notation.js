// Moves as people write them: P7g-7f, ７六歩(77) and 同歩(75) in shogi, C2c-2b in Dobutsu shogi, f5 in Othello.
import { after, place, read, split } from './moves.js'
import { LOOKS } from './pieces.js'

const DIGITS = '０１２３４５６７８９'
const RANKS = '一二三四五六七八九'

/**
 * The moves of a line from a position on.
 * @param {string} game
 * @param {string} sfen of the position before the first of them
 * @param {string[]} moves
 * @param {string} language
 * @param {(name: string) => string} word
 * @returns {string[]}
 */
export function written (game, sfen, moves, language, word) {
  return moves.map((move, place) => {
    const before = place ? split(moves[place - 1]).to : ''
    const text = one(game, read(sfen).rows, move, before, language, word)
    sfen = after(sfen, move)
    return text
  })
}

function one (game, rows, move, before, language, word) {
  const { from, to, promotes } = split(move)
  if (!from) return to || word(move)
  const at = square => rows[place(square, rows)[1]][place(square, rows)[0]]
  const drop = from.endsWith('*')
  const piece = (drop ? from[0] : at(from)).toUpperCase()
  const look = LOOKS[game]
  if (language === 'ja') {
    const [, rank] = place(to, rows)
    const act = drop ? '打' : promotes ? '成' : ''
    const origin = drop ? '' : `(${from[0]}${place(from, rows)[1] + 1})`
    return (to === before ? '同' : DIGITS[to[0]] + RANKS[rank]) + word(look.names[piece]) + act + origin
  }
  const letter = look.letters?.[piece] ?? piece
  return drop ? `${letter}*${to}` : `${letter}${from}${at(to) ? 'x' : '-'}${to}${promotes ? '+' : ''}`
}
