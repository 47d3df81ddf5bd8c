// What is drawn of a whole game: the win rate and the losses move by move, and how many moves cost how much.
export const MARKS = { '?!': 'mark1', '?': 'mark2', '??': 'mark3' }

const WIDTH = 400
const PAD = 6
const SHORTEST = 10 // moves that there is room for

/** @typedef {import('./page.js').State} State */

/** @returns {SVGElement} */
function svg (name, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const key in attributes) element.setAttribute(key, attributes[key])
  return element
}

const plies = state => Math.max(SHORTEST, state.moves.length)
const across = (state, ply) => PAD + (WIDTH - 2 * PAD) * ply / plies(state)

/**
 * The ply that a click on a chart of the game means.
 * @param {MouseEvent} event
 * @param {State} state
 */
export function clicked (event, state) {
  const box = event.currentTarget.getBoundingClientRect()
  const x = (event.clientX - box.left) / box.width * WIDTH
  return Math.round((x - PAD) / (WIDTH - 2 * PAD) * plies(state))
}

/**
 * Black's win rate after each move, with the mistakes as dots.
 * @param {SVGElement} root
 * @param {State} state
 */
export function drawWinRates (root, state) {
  const x = ply => across(state, ply)
  const y = share => 4 + 88 * (1 - share)
  const known = state.winRates.flatMap((share, ply) => share === null || share === undefined ? [] : [[ply, share]])
  root.replaceChildren(
    svg('line', { class: 'middle', x1: 0, x2: WIDTH, y1: y(0.5), y2: y(0.5) }),
    svg('line', { class: 'now', x1: x(state.at), x2: x(state.at), y1: 0, y2: 96 }),
    ...known.filter(([ply]) => ply === state.at).map(([ply, share]) => svg('circle', { class: 'here', cx: x(ply), cy: y(share), r: 3 })),
    svg('polyline', { points: known.map(([ply, share]) => `${x(ply)},${y(share)}`).join(' ') }),
    ...state.judged.filter(each => each.mark).map(each =>
      svg('circle', { class: each.sure ? MARKS[each.mark] : 'unsure', cx: x(each.number), cy: y(each.winRate), r: 4 })))
}

/**
 * What each move cost: Black's upwards, White's downwards; half of winning is as high as there is room for.
 * @param {SVGElement} root
 * @param {State} state
 */
export function drawLosses (root, state) {
  const wide = Math.max(1, 0.7 * (across(state, 1) - across(state, 0)))
  root.replaceChildren(svg('line', { class: 'middle', x1: 0, x2: WIDTH, y1: 30, y2: 30 }),
    ...state.judged.map(each => {
      const height = 30 * Math.min(1, 2 * each.loss)
      return svg('rect', { class: each.mark && each.sure ? MARKS[each.mark] : 'fine', x: across(state, each.number) - wide / 2,
        y: each.side === 'b' ? 30 - height : 30, width: wide, height })
    }))
}

/**
 * How many moves of each side cost how much: a pair of bars, Black's and White's, between two bounds.
 * @param {SVGElement} root
 * @param {State['summary']} summary
 * @param {number[]} losses the bounds
 */
export function drawHistogram (root, summary, losses) {
  const most = Math.max(1, ...summary.flatMap(each => each.histogram))
  const room = WIDTH / (losses.length + 1)
  const bars = summary.flatMap(({ side, histogram }) => histogram.flatMap((count, bar) => {
    const height = 50 * count / most
    const x = room * bar + 8 + (side === 'b' ? 0 : 25)
    const label = svg('text', { x: x + 12, y: 64 - height })
    label.textContent = count || ''
    return [svg('rect', { class: side === 'b' ? 'black' : 'white', x, y: 68 - height, width: 24, height }), label]
  }))
  const bounds = losses.map((loss, place) => {
    const text = svg('text', { x: room * (place + 1), y: 82 })
    text.textContent = `${Math.round(100 * loss)} %`
    return text
  })
  root.replaceChildren(svg('line', { class: 'middle', x1: 0, x2: WIDTH, y1: 68, y2: 68 }), ...bars, ...bounds)
}
