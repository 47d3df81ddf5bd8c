// The moves of the game as a list of two columns, with marks and variations, and what is said of the move that is shown.
import { MARKS, percent } from './chart.js'
import { made } from './dom.js'
import { after } from './moves.js'

/** @typedef {import('./page.js').State} State */

/** How a move is marked: grey until no later look of the analysis can change it. */
const markOf = each => each?.mark ? (each.sure ? MARKS[each.mark] : 'unsure') : ''

export class MoveList {
  /**
   * @param {HTMLElement} root
   * @param {(ply: number) => void} goTo
   * @param {(ply: number, move: string) => void} vary shows the line that has this move after so many
   */
  constructor (root, goTo, vary) {
    Object.assign(this, { root, goTo, vary })
    new ResizeObserver(() => this.follow()).observe(root)
  }

  /**
   * The list stays as it is but for what is new: news come between the press of a button and its release.
   * @param {State} state
   * @param {(sfen: string, moves: string[], ply: number) => string[]} write the moves that follow so many, with whose they are
   */
  show (state, write) {
    const { root } = this
    const judged = new Map(state.judged.map(each => [each.number, each]))
    const names = write(state.start, state.moves, 0)
    const others = new Map(state.variations)
    const before = root.querySelector('[aria-current=step]')
    let position = state.start
    root.dataset.first = (state.turn + state.at) % 2
    while (root.children.length > state.moves.length) root.lastChild.remove()
    state.moves.forEach((move, index) => {
      const each = judged.get(index + 1)
      const lost = each?.mark ? ` ${each.mark} ${lossOf(each)}` : ''
      const item = root.children[index] ?? root.appendChild(made('li', {}, made('button', { onclick: () => this.goTo(index + 1) }), made('span')))
      const button = item.firstChild
      const text = names[index] + lost
      if (button.textContent !== text) button.textContent = text
      button.className = markOf(each)
      button.setAttribute('aria-current', index + 1 === state.at ? 'step' : 'false')
      this.showVariations(item.lastChild, index, others.get(index) ?? [], moves => write(position, moves, index))
      if (others.size) position = after(position, move)
      if (index + 1 === state.moves.length && others.has(index + 1)) {
        this.showVariations(item.lastChild, index + 1, others.get(index + 1), moves => write(position, moves, index + 1))
      }
    })
    if (root.querySelector('[aria-current=step]') !== before) this.follow()
  }

  /** Where the list has another height, or the game has gone on, the move is in view that led to the position shown. */
  follow () {
    const current = this.root.querySelector('[aria-current=step]')
    if (current) this.root.scrollTop = current.offsetTop - this.root.clientHeight / 2
  }

  /** Other moves that were played after so many, each a button that shows its line. */
  showVariations (root, ply, moves, write) {
    const shown = moves.join(' ')
    if (root.dataset.moves === shown) return
    root.dataset.moves = shown
    root.className = 'variations'
    root.replaceChildren(...moves.map(move => made('button', { textContent: `↳ ${write([move])[0]}`, onclick: () => this.vary(ply, move) })))
  }
}

/** What a move cost: of winning, or in discs. */
export const lossOf = ({ loss, discs }) => discs === null ? `−${percent(loss)} %` : `−${discs}`

/**
 * What the analysis says of the move that led to the position shown; nothing where it has not looked.
 * @param {State} state
 * @param {(sfen: string, moves: string[], ply: number) => string[]} write
 * @param {(name: string) => string} word
 * @returns {Array<string|Element>}
 */
export function sentence (state, write, word) {
  const { asked, at, moves } = state
  if (asked?.ply === at) return [`${word(asked.mate ? 'findMate' : 'findBetter')} ${write(state.position, [moves[at]], at)[0]}`]
  const each = state.judged.find(({ number }) => number === at)
  if (!each) return []
  const before = state.moves.slice(0, state.at - 1).reduce(after, state.start)
  const [played, best] = [each.move, each.best].map(move => move ? write(before, [move], state.at - 1)[0] : word('declare'))
  const name = made('strong', { textContent: played })
  const unit = each.discs === null ? '' : ` ${word('discsLost')}`
  if (asked) return [name, `${asked.found ? '' : ` ${lossOf(each)}${unit}`}: ${word(asked.found ? 'rightMove' : 'notYet')}`]
  if (each.move === each.best) return [name, `: ${word('theBest')}`]
  const lost = ` ${each.mark ? `${each.mark} ` : ''}${lossOf(each)}${unit}`
  if (each.best === null) return [name, lost] // as a record has it, which knows of no better move
  return [name, `${lost}, ${word('better')} `, made('strong', { textContent: best })]
}
