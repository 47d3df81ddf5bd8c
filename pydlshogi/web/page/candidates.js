// What the engine thinks of the position shown: its candidates as rows and as arrows, and a line that is stepped through.
import { percent, signed } from './chart.js'
import { $, made } from './dom.js'
import { after } from './moves.js'
import { LOOKS } from './pieces.js'

const MANY = 100000 // from which on three digits of a number are enough

export class Candidates {
  /** @param {() => void} changed another position of a line is to be shown */
  constructor (changed) {
    Object.assign(this, { changed, info: null, game: '', preview: null }) // preview: {place, moves, plies}, where a line is stepped through
  }

  /**
   * @param {string} game
   * @param {?object} info what was said last, see `result` in queries.py; null of another position
   */
  take (game, info) {
    Object.assign(this, { game, info })
    if (!info || this.preview?.place >= this.infos.length) this.preview = null // with its row, which nobody can leave any more
  }

  /** Beside a mate without the moves that were not looked at: they are said to be worth as much as that. */
  get infos () {
    return (this.info?.moveInfos ?? []).filter((each, _, [best]) => !best.mate || each === best || each.visits !== 0)
  }

  /** The position that is stepped to from one, and the move that led there. */
  stepped (position, last) {
    for (const move of this.preview ? this.preview.moves.slice(0, this.preview.plies) : []) {
      position = after(position, move)
      last = move
    }
    return [position, last]
  }

  get arrows () {
    const [best] = this.infos
    return this.preview ? [] : this.infos.map(each => ({ move: each.move, label: this.worth(each), grade: this.gradeOf(best, each),
      weight: each.visits === null ? Math.max(0, 1 - 5 * (best.winrate - each.winrate)) : Math.sqrt((each.visits + 1) / (best.visits + 1)) }))
  }

  /** Othello's alpha-beta tells discs in place of visits. Other games have none of a mate that is known. */
  inDiscs (each) {
    return LOOKS[this.game].turns && each.visits === null
  }

  /** How much worse a move is than the best: 0 hardly, 1 by an inaccuracy, 2 by a mistake. */
  gradeOf (best, each) {
    return this.inDiscs(each)
      ? [200, 600].filter(least => best.scoreCp - each.scoreCp >= least).length
      : [0.02, 0.1].filter(least => best.winrate - each.winrate >= least).length
  }

  /** What stands on an arrow: the win rate in percent, or the discs that it wins by. */
  worth (each) {
    return this.inDiscs(each) ? discsWon(each) : percent(each.winrate, 0)
  }

  /**
   * @param {(moves: string[]) => string[]} write moves from the position shown
   * @param {(name: string) => string} word
   */
  draw (write, word) {
    const { info, infos } = this
    const discs = infos.every(each => this.inDiscs(each))
    $('candidates').hidden = $('lineField').hidden = !infos.length
    $('third').textContent = word(discs ? 'discs' : 'visits')
    while ($('lines').children.length > infos.length) $('lines').lastChild.remove()
    infos.forEach((each, place) => {
      const row = $('lines').children[place] ?? $('lines').appendChild(this.row(place))
      const [move, ...line] = write(each.pv.slice(0, 12))
      const worth = each.mate ? word(each.mate > 0 ? 'winsIn' : 'losesIn').replace('#', Math.abs(each.mate)) : `${percent(each.winrate)} %`
      const cells = [move, worth, discs ? discsWon(each) : short(each.visits), line.join(' ')]
      cells.forEach((text, column) => { row.children[column].textContent = text })
    })
    const { visits, visitsPerSecond } = info?.rootInfo ?? {}
    const speed = visits ? `${short(visits)} ${word('nodes')}, ${short(visitsPerSecond ?? 0)} ${word('nodesPerSecond')}` : ''
    $('speed').textContent = info?.bestMove === 'win' ? word('declare') : speed
  }

  /** A candidate: pointed at, its line is shown on the board; the wheel, or the up and down keys, step through it. */
  row (place) {
    const row = made('tr', { tabIndex: 0 }, ...Array.from({ length: 4 }, () => made('td')))
    const show = preview => {
      this.preview = preview
      this.changed()
    }
    const step = (event, by) => {
      event.preventDefault()
      if (!this.preview) return
      const { moves, plies } = this.preview
      show({ ...this.preview, plies: Math.max(0, Math.min(moves.length, plies + by)) })
    }
    row.onmouseenter = row.onfocus = () => show({ place, moves: this.infos[place].pv, plies: this.infos[place].pv.length })
    row.onmouseleave = row.onblur = () => show(null)
    row.addEventListener('wheel', event => step(event, Math.sign(event.deltaY)), { passive: false })
    row.onkeydown = event => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (by) step(event, by)
    }
    return row
  }
}

const discsWon = ({ scoreCp }) => signed(Math.round(scoreCp / 100))

/** A number that may be very large. */
const short = number => number < MANY ? number
  : new Intl.NumberFormat(document.documentElement.lang, { notation: 'compact', maximumSignificantDigits: 3 }).format(number)
