// The moves of the game as a list of two columns, with marks and variations, and what is said of the move that is shown.
import { MARKS, percent } from './chart.js'
import { made } from './dom.js'

const MOST_SHOWN = 8 // moves of a variation
const AS_GOOD = 0.005 // of winning: who loses less has played as well

/** How a move is marked: grey until no later look of the analysis can change it. */
const markOf = each => each?.mark ? (each.sure ? MARKS[each.mark] : 'unsure') : ''

export class MoveList {
  /** `goTo` shows a move of the line; `send` has the server show another line, or delete one. */
  constructor (root, goTo, send, word) {
    Object.assign(this, { root, goTo, send, word })
    new ResizeObserver(() => this.follow()).observe(root)
  }

  /** The list stays as it is but for what is new: news come between the press of a button and its release. `tell` gives a
   * move in the reader's language, of those that the server has written in all. */
  show (state, tell) {
    const { root } = this
    const judged = new Map(state.judged.map(each => [each.number, each]))
    const others = new Map()
    let leaves = null
    for (const each of state.variations) { // those that leave a variation stand behind it
      const [after, depth] = each
      if (depth === 0) leaves = after
      others.set(leaves, [...(others.get(leaves) ?? []), each])
    }
    const before = root.querySelector('[aria-current=step]')
    root.dataset.first = (state.turn + state.at) % 2
    while (root.children.length > state.moves.length) root.lastChild.remove()
    state.written.forEach((written, index) => {
      const each = judged.get(index + 1)
      const lost = each?.mark ? ` ${each.mark} ${lossOf(each, '')}` : '' // there is no room for the unit
      const item = root.children[index] ?? root.appendChild(made('li', {}, made('button', { onclick: () => this.goTo(index + 1) }), made('span')))
      const button = item.firstChild
      const text = tell(written) + lost
      if (button.textContent !== text) button.textContent = text
      button.className = markOf(each)
      button.setAttribute('aria-current', index + 1 === state.at ? 'step' : 'false')
      const last = index + 1 === state.moves.length ? others.get(index + 1) ?? [] : [] // that go on where the line ends
      this.showVariations(item.lastChild, [...(others.get(index) ?? []), ...last], tell)
    })
    // Once the frame is laid out: what is known of the position comes after it, and leaves the list less room.
    if (root.querySelector('[aria-current=step]') !== before) requestAnimationFrame(() => this.follow())
  }

  /** Where the list has another height, or the game has gone on, the move is in view that led to the position shown. */
  follow () {
    const current = this.root.querySelector('[aria-current=step]')
    if (current) this.root.scrollTop = current.offsetTop - this.root.clientHeight / 2
  }

  /** Other lines, each a button that shows it, and one that deletes it where that may be. */
  showVariations (root, variations, tell) {
    const shown = JSON.stringify([variations, document.documentElement.lang])
    if (root.dataset.shown === shown) return
    root.dataset.shown = shown
    root.className = 'variations'
    root.replaceChildren(...variations.map(([ply, depth, number, moves, written, own]) => {
      const text = `${ply + 1} ${written.slice(0, MOST_SHOWN).map(tell).join(' ')}${moves.length > MOST_SHOWN ? ' …' : ''}`
      const row = made('span', {}, made('button', { textContent: text, onclick: () => this.send({ do: 'variation', number }) }))
      row.style.paddingLeft = `${depth}em`
      if (own) row.append(made('button', { className: 'delete', textContent: '×', ariaLabel: `${this.word('delete')} ${text}`, onclick: () => this.send({ do: 'delete', number }) }))
      return row
    }))
  }
}

/** What a move cost: of winning, or in discs. */
const lossOf = ({ loss, discs }, unit = ' %') => discs === null ? `−${percent(loss)}${unit}` : `−${discs}`

/** What the analysis says of the move that led to the position shown, as texts and elements; nothing where it has not looked. */
export function sentence (state, tell, word) {
  const { asked, at, written } = state
  if (asked?.ply === at && asked.mate) return [word(asked.goesOn ? 'mateGoesOn' : 'findMate').replace('#', asked.mate)]
  if (asked?.ply === at) return [`${word('findBetter')} ${tell(written[at])}`]
  const each = state.judged.find(({ number }) => number === at)
  if (!each && !(asked && state.judging)) return []
  const named = textContent => made('strong', { textContent })
  const name = named(tell(written[at - 1]))
  if (!each) return [name, `: ${word('isJudged')}`]
  const unit = each.discs === null ? '' : ` ${word('discsLost')}`
  if (asked) return [name, `${asked.found ? '' : ` ${lossOf(each)}${unit}`}: ${word(asked.found ? 'rightMove' : 'notYet')}`]
  if (each.move === each.best) return [name, `: ${word('theBest')}`]
  const lost = ` ${each.mark ? `${each.mark} ${word(each.mark)} ` : ''}${lossOf(each)}${unit}`
  if (each.best === null) return [name, lost] // as a record has it, which knows of no better move
  const good = each.discs === null ? each.loss < AS_GOOD : each.discs === 0
  return [name, good ? `: ${word('good')} ` : `${lost}, ${word('better')} `, named(each.better ? tell(each.better) : word('declare'))]
}
