// What follows from what the server says of the game: see `state` in table.py, played.py, review.py and clock.py.
import { wordIn } from './words.js'

/** The game as its words go: where White gives odds, sides have other names. */
export const kind = ({ game, odds }) => odds ? 'odds' : game

/** After how many moves the mistakes were made that the analysis has found. */
export const mistakes = state => state.judged.filter(each => each.mark).map(each => each.number)

/** Whose side the person has who plays against an engine: 0 or 1; null where two people play, or two engines. */
export const own = ({ sides }) => Boolean(sides[0]) === Boolean(sides[1]) ? null : Number(Boolean(sides[0]))

/** Of these levels, after a win the next stronger opponent, after a loss the next weaker one; undefined where there is none. */
export function otherLevel (state, levels) {
  const mine = own(state)
  const met = mine === null ? -1 : levels.indexOf(state.sides[1 - mine])
  const winner = state.ending?.winner ?? null
  const next = winner === null ? -1 : winner === mine ? met + 1 : met - 1
  return Math.max(met, next) <= levels.indexOf('full strength') && met >= 0 ? levels[next] : undefined
}

/** Whether a state is one move on from the one before. */
export const isMoveOn = (state, next) => state !== null && next.game === state.game && next.start === state.start && next.at === state.at + 1 &&
  next.moves[state.at] !== 'pass' && state.moves.slice(0, state.at).every((move, ply) => next.moves[ply] === move)

/** Who is to move, or who has won, and how. */
export function statusText (state, language) {
  const { ending, turn, at, moves, legal, pace, thinks } = state
  const word = name => wordIn(language, name, kind(state))
  const names = [word('black'), word('white')]
  const joint = language === 'ja' ? '' : ' '
  const mine = own(state)
  const score = state.score && ` (${state.score})`
  if (ending) {
    const { winner } = ending
    const won = `${names[winner]}${joint}${word('wins')}`
    const who = winner === null ? word('nobody') : mine === null ? won : winner === mine ? word('youWin') : `${word('youLose')}: ${won}`
    return `${who} ${word(ending.reason)}${score}`
  }
  const place = moves.length > at ? `${at}/${moves.length}: ` : ''
  const passed = moves[at - 1] === 'pass' ? ` ${word('passed')}` : ''
  const what = legal.includes('pass') ? 'mustPass' : pace?.paused && !thinks ? 'waits' : thinks ? 'thinks' : mine === turn && at === moves.length ? 'yourMove' : 'toMove'
  const danger = state.inDanger ? `${language === 'ja' ? '、' : ', '}${wordIn(language, 'inDanger', state.game)}` : ''
  return `${place}${names[turn]}${joint}${word(what)}${danger}${score}${passed}`
}
