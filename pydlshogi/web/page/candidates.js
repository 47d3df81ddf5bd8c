// What the engine thinks of the position shown: its candidates as rows and as arrows, and a line that is stepped through.
import { percent, signed } from './chart.js'
import { $, made } from './dom.js'
import { LOOKS } from './pieces.js'

const MANY = 100000 // from which on three digits of a number are enough

export class Candidates {
  /** `changed` is called where another position of a line is to be shown. */
  constructor (changed) {
    Object.assign(this, { changed, info: null, game: '', preview: null }) // preview: {place, pv, line, plies}, where a line is stepped through
  }

  /** What was said last, see `_info` in table.py; null of another position. */
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
    if (!this.preview?.plies) return [position, last]
    const { pv, line, plies } = this.preview
    return [line[plies - 1][1], pv[plies - 1]]
  }

  get arrows () {
    const [best] = this.infos
    return this.preview ? [] : this.infos.map(each => ({ move: each.move, label: this.worth(each), grade: this.gradeOf(best, each),
      weight: each.visits === null ? Math.max(0, 1 - 5 * (best.winrate - each.winrate)) : Math.sqrt((each.visits + 1) / (best.visits + 1)) }))
  }

  /** Alpha-beta tells discs in place of visits. Other games have none of a mate that is known. */
  inDiscs (each) {
    return LOOKS[this.game].inDiscs && each.visits === null
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

  /** `tell` gives a move in the reader's language, of those that the server has written in all. `points`: centipawns are
   * shown in place of win rates. */
  draw (tell, word, points) {
    const { info, infos } = this
    const discs = infos.every(each => this.inDiscs(each))
    const inPoints = points && !LOOKS[this.game]?.inDiscs
    $('candidates').hidden = $('lineField').hidden = !infos.length
    $('second').textContent = word(inPoints ? 'points' : 'win')
    $('third').textContent = word(discs ? 'discs' : 'visits')
    while ($('lines').children.length > infos.length) $('lines').lastChild.remove()
    infos.forEach((each, place) => {
      const row = $('lines').children[place] ?? $('lines').appendChild(this.row(place))
      const [move, ...line] = each.line.map(([written]) => tell(written))
      const worth = each.mate ? word(each.mate > 0 ? 'winsIn' : 'losesIn').replace('#', Math.abs(each.mate)) : inPoints ? signed(each.scoreCp) : `${percent(each.winrate)} %`
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
      const { line, plies } = this.preview ?? {}
      if (line) show({ ...this.preview, plies: Math.max(0, Math.min(line.length, plies + by)) })
    }
    row.onmouseenter = row.onfocus = () => {
      const { pv, line } = this.infos[place]
      show({ place, pv, line, plies: line.length })
    }
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
