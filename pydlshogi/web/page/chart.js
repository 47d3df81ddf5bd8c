// What is drawn of a whole game: the win rate and the losses move by move, how many moves cost how much, and a summary.
import { made, svg } from './dom.js'

export const ALL_DISCS = 64
export const MARKS = { '?!': 'mark1', '?': 'mark2', '??': 'mark3' }

const WIDTH = 400
const [LEFT, RIGHT] = [26, 10] // of the charts of a game, where its moves are not
const SHORTEST = 10 // moves that there is room for

export const percent = (share, digits = 1) => (100 * share).toFixed(digits)

export const signed = number => number > 0 ? `+${number}` : number < 0 ? `−${-number}` : '0'

/** Whether the analysis counts what moves cost in discs. */
export const inDiscs = ({ judged }) => (judged[0]?.discs ?? null) !== null

/** By how many discs Black will have won, after so many moves, as far as the analysis counts them; null: it does not. */
export function discsOf (state) {
  if (!inDiscs(state)) return null
  const discs = []
  for (const { number, evaluation } of state.judged) discs[number] = Math.max(-ALL_DISCS, Math.min(ALL_DISCS, Math.round(evaluation / 100)))
  return discs
}

const plies = state => Math.max(SHORTEST, state.moves.length)
const across = (state, ply) => LEFT + (WIDTH - LEFT - RIGHT) * ply / plies(state)

/** The ply of a chart of the game that is pointed at. */
export function clicked (event, state) {
  const box = event.currentTarget.getBoundingClientRect()
  const x = (event.clientX - box.left) / box.width * WIDTH
  return Math.max(0, Math.min(state.moves.length, Math.round((x - LEFT) / (WIDTH - LEFT - RIGHT) * plies(state))))
}

/** Black's win rate after each move, or by how many discs Black is ahead, with the mistakes as dots. */
export function drawWinRates (root, state, pointed = null) {
  const x = ply => across(state, ply)
  const y = share => 5 + 84 * (1 - share)
  const discs = discsOf(state)
  const most = discs && [8, 16, 32].find(most => discs.every(each => Math.abs(each) <= most)) || ALL_DISCS
  const shares = discs ? discs.map(each => 0.5 + each / most / 2) : state.winRates
  const known = Object.entries(shares).flatMap(([ply, share]) => (share ?? null) === null ? [] : [[Number(ply), share]])
  const every = [5, 10, 20, 50, 100, 200, 500].find(step => plies(state) / step <= 10) ?? 1000
  const numbers = Array.from({ length: Math.floor(plies(state) / every) }, (_, place) => every * (place + 1))
  const points = known.map(([ply, share]) => `${x(ply)},${y(share)}`).join(' ')
  const line = (kind, ply) => svg('line', { class: kind, x1: x(ply), x2: x(ply), y1: y(1), y2: y(0) })
  const dot = (kind, r, ply, share) => svg('circle', { class: kind, cx: x(ply), cy: y(share), r })
  root.replaceChildren(
    ...[0, 0.25, 0.5, 0.75, 1].map(share =>
      svg('line', { class: share === 0.5 ? 'middle' : 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: y(share), y2: y(share) })),
    ...[0, 0.5, 1].map(share => svg('text', { x: 2, y: y(share) + 4 }, discs ? signed(most * (2 * share - 1)) : percent(share, 0))),
    ...numbers.map(ply => svg('text', { class: 'number', x: x(ply), y: 102 }, ply)),
    ...(known.length > 1 ? [svg('polygon', { class: 'under', points: `${x(known[0][0])},${y(0.5)} ${points} ${x(known.at(-1)[0])},${y(0.5)}` })] : []),
    svg('polyline', { class: 'curve', points }),
    line('now', state.at),
    ...(pointed === null ? [] : [line('pointed', pointed)]),
    ...known.filter(([ply]) => ply === (pointed ?? state.at)).map(([ply, share]) => dot('here', 3, ply, share)),
    ...state.judged.filter(each => each.mark).map(each => dot(each.sure ? MARKS[each.mark] : 'unsure', 4, each.number, discs ? shares[each.number] : each.winRate)))
}

/** What each move cost: Black's upwards, White's downwards; half of winning, or 16 discs, are as high as there is room for. */
export function drawLosses (root, state) {
  const wide = Math.max(1, 0.7 * (across(state, 1) - across(state, 0)))
  root.replaceChildren(svg('line', { class: 'middle', x1: 0, x2: WIDTH, y1: 30, y2: 30 }),
    ...state.judged.map(each => {
      const height = 30 * Math.min(1, each.discs === null ? 2 * each.loss : each.discs / 16)
      return svg('rect', { class: each.mark && each.sure ? MARKS[each.mark] : 'fine', x: across(state, each.number) - wide / 2,
        y: each.side === 'b' ? 30 - height : 30, width: wide, height })
    }))
}

/** How many moves of each side cost how much: a pair of bars, Black's and White's, between two bounds. */
export function drawHistogram (root, summary, bounds) {
  const most = Math.max(1, ...summary.flatMap(each => each.histogram))
  const room = WIDTH / (bounds.length + 1)
  const bars = summary.flatMap(({ side, histogram }) => histogram.flatMap((count, bar) => {
    const height = 50 * count / most
    const x = room * bar + 8 + (side === 'b' ? 0 : 25)
    return [svg('rect', { class: side === 'b' ? 'black' : 'white', x, y: 68 - height, width: 24, height }),
      svg('text', { x: x + 12, y: 64 - height }, count || '')]
  }))
  const labels = bounds.map((bound, place) => svg('text', { x: room * (place + 1), y: 82 }, bound))
  root.replaceChildren(svg('line', { class: 'middle', x1: 0, x2: WIDTH, y1: 68, y2: 68 }), ...bars, ...labels)
}

/** How well each side has played, a row for each. */
export function drawSummary (root, state, word) {
  const share = number => number === null ? '' : number.toFixed(0)
  const marks = Object.keys(state.summary[0]?.marks ?? {})
  const head = [...['accuracy', 'opening', 'middle game', 'endgame', 'found', inDiscs(state) ? 'discsLostEach' : 'lost']
    .map(name => [word(name), word(`about ${name}`)]), ...marks.map(mark => [mark, word(mark)])]
  const rows = state.summary.map(each => {
    const lost = inDiscs(state) ? each.discs.toFixed(1) : `${percent(each.loss)} %`
    const cells = [`${share(each.accuracy)} %`, ...each.phases.map(share), `${each.found}/${each.moves}`, lost, ...marks.map(mark => each.marks[mark])]
    return made('tr', {}, made('th', { textContent: word(each.side === 'b' ? 'black' : 'white'), scope: 'row' }),
      ...cells.map(textContent => made('td', { textContent })))
  })
  root.replaceChildren(
    made('thead', {}, made('tr', {}, made('td'), ...head.map(([textContent, title]) => made('th', { textContent, title, scope: 'col' })))),
    made('tbody', {}, ...rows))
}
