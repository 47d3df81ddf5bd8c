// What the server says of the game, and what follows from it.
import { ALL_DISCS } from './chart.js'
import { LOOKS } from './pieces.js'
import { wordIn } from './words.js'

/**
 * What the server says of the game: see `state` in table.py, played.py, review.py and clock.py.
 * @typedef {object} State
 * @property {number} generation that a move has to name
 * @property {boolean} fresh nobody has begun a game yet
 * @property {string} game
 * @property {string} start sfen of the first position
 * @property {boolean} usual that is how the game begins
 * @property {string} position sfen of the one that is shown
 * @property {number} turn 0 Black, 1 White
 * @property {string} inDanger a square that is marked, or ''
 * @property {string[]} moves of the whole game
 * @property {number} at how many of them have been made on the board that is shown
 * @property {Array<[number, number, number, string[], boolean]>} variations lines that leave this one, and behind each those that
 *   leave it: after how many moves, how deep, the number of its first position, its moves, and whether it can be deleted
 * @property {string[]} sides an opponent of the game, or '' for a person
 * @property {string[]} names
 * @property {string[]} legal what a person may play now
 * @property {boolean} mayDeclare
 * @property {?{reason: string, winner: ?number}} ending
 * @property {boolean} thinks the engine, about its move
 * @property {boolean} watching
 * @property {?{look: number, left: number, of: number}} judging how many positions this look of the analysis has still to do
 * @property {string} comment of a record, on the position shown
 * @property {Array<[string, string]>} opening how the game has begun, in English and in Japanese
 * @property {Array<[string, number, number]>} book moves that a book knows here: the move, centipawns for who makes it, and
 *   how often it was played
 * @property {number} lines how many candidates are shown
 * @property {Array<?number>} winRates Black's, after so many moves
 * @property {Judged[]} judged
 * @property {Array<{side: string, moves: number, found: number, loss: number, marks: Object<string, number>,
 *   histogram: number[], accuracy: number, phases: Array<?number>, discs: ?number}>} summary
 * @property {number[]} practice after how many moves somebody could have done much better
 * @property {?{ply: number, mate: boolean, found: ?boolean}} asked where a better move is to be found, and whether it was
 * @property {?{number: number, games: number}} file
 * @property {?number} leftAt the ply where the game was left to try other moves
 * @property {number} earlier how many games can be taken up again that others have replaced
 * @property {?{left: number[], byoyomi: number, running: ?number, spent: number, stands: boolean}} clock in seconds
 * @property {?{seconds: number, paused: boolean}} pace of two engines: how long a move is shown at least
 * @property {string} error
 *
 * @typedef {{number: number, side: string, move: string, best: string, loss: number, discs: ?number, mark: string, sure: boolean, winRate: number}} Judged
 */

/** The game as its words go: in shogi's handicaps, where White begins against all of Black's pieces, sides have other names. */
export const kind = (game, start) => /\/9\/9\/9\/PPPPPPPPP\/1B5R1\/LNSGKGSNL w/.test(start) ? 'odds' : game

/** After how many moves the mistakes were made that the analysis has found. @param {State} state */
export const mistakes = state => state.judged.filter(each => each.mark).map(each => each.number)

/** Whose side the person has who plays against an engine: 0 or 1; null where two people play, or two engines. @param {State} state */
export const own = ({ sides }) => Boolean(sides[0]) === Boolean(sides[1]) ? null : Number(Boolean(sides[0]))

/**
 * After a win the next stronger opponent, after a loss the next weaker one; undefined where there is none.
 * @param {State} state
 * @param {string[]} levels
 */
export function otherLevel (state, levels) {
  const mine = own(state)
  const met = mine === null ? -1 : levels.indexOf(state.sides[1 - mine])
  const winner = state.ending?.winner ?? null
  const next = winner === null ? -1 : winner === mine ? met + 1 : met - 1
  return Math.max(met, next) <= levels.indexOf('full strength') && met >= 0 ? levels[next] : undefined
}

/** Whether a state is one move on from the one before. @param {?State} state @param {State} next */
export const isMoveOn = (state, next) => state !== null && next.game === state.game && next.start === state.start && next.at === state.at + 1 &&
  next.moves[state.at] !== 'pass' && state.moves.slice(0, state.at).every((move, ply) => next.moves[ply] === move)

/** The count of the discs in Othello; empty squares at the end are the winner's, as in the score of the analysis and of records. */
function discs (state) {
  if (!LOOKS[state.game].turns) return ''
  const [board] = state.position.split(' ')
  const counts = ['D', 'd'].map(disc => board.split(disc).length - 1)
  const { reason, winner } = state.ending ?? {}
  if (reason === 'more discs, both pass') counts[winner] = ALL_DISCS - counts[1 - winner]
  return ` (${counts.join('-')})`
}

/** Who is to move, or who has won, and how. @param {State} state @param {string} language */
export function statusText (state, language) {
  const { ending, turn, at, moves, legal, pace, thinks } = state
  const word = name => wordIn(language, name, kind(state.game, state.start))
  const names = [word('black'), word('white')]
  const joint = language === 'ja' ? '' : ' '
  const mine = own(state)
  if (ending) {
    const { winner } = ending
    const won = `${names[winner]}${joint}${word('wins')}`
    const who = winner === null ? word('nobody') : mine === null ? won : winner === mine ? word('youWin') : `${word('youLose')}: ${won}`
    return `${who} ${word(ending.reason)}${discs(state)}`
  }
  const place = moves.length > at ? `${at}/${moves.length}: ` : ''
  const passed = moves[at - 1] === 'pass' ? ` ${word('passed')}` : ''
  const what = legal.includes('pass') ? 'mustPass' : pace?.paused && !thinks ? 'waits' : thinks ? 'thinks' : mine === turn && at === moves.length ? 'yourMove' : 'toMove'
  const danger = state.inDanger ? `${language === 'ja' ? '、' : ', '}${wordIn(language, 'inDanger', state.game)}` : ''
  return `${place}${names[turn]}${joint}${word(what)}${danger}${discs(state)}${passed}`
}
