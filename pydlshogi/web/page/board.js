// The board as SVG: it draws a position and plays the moves that it was told are legal. It knows no rules.
import { made, svg } from './dom.js'
import { LOOKS } from './pieces.js'
import { isBlack, read, split } from './position.js'

const MARGIN = 34 // where the coordinates are
const EDGE = 10 // where nothing is
const STILL = matchMedia('(prefers-reduced-motion: reduce)')
const SLIDE = 150 // milliseconds that a piece takes to where it goes
const DRAGGED = 6 // pixels from which on a press is no click

export class Board {
  /** `play` is called with a move; `word` gives words in the reader's language; `refused` is called with a move that is
   * not legal, or with the square of a piece that has none. */
  constructor (root, play, word, refused = () => {}) {
    Object.assign(this, { root, play, word, refused, view: null, from: '', focus: [0, 0], drag: null, dropped: false, pointed: '', own: new Set(), ownOn: '' })
    root.addEventListener('click', event => {
      const cell = event.target.closest('[data-at]')
      if (cell) this.touch(cell.dataset.at)
    })
    root.addEventListener('keydown', event => this.key(event))
    root.addEventListener('pointerdown', event => this.press(event))
    // Whoever came by the mouse means the game with the arrow keys, and who came by Tab the squares.
    addEventListener('keydown', ({ key }) => key === 'Tab' && root.classList.remove('mouse'))
    root.addEventListener('contextmenu', event => event.preventDefault())
    addEventListener('pointermove', event => this.pull(event))
    addEventListener('pointerup', event => this.release(event))
    addEventListener('pointercancel', () => this.drop())
  }

  /** A view is {game, position, legal, last: squares, danger: a square or '', arrows: [{move, label, weight, grade}], heat: {square: 0 to 1}, flip,
   * wide: whether the captured pieces lie beside the board, or above and below it, pairs: whether pieces have two letters}. */
  show (view) {
    const old = this.view
    const same = old && ['game', 'position', 'flip', 'wide', 'pairs'].every(key => old[key] === view[key]) &&
      String(old.legal) === String(view.legal) && String(old.last) === String(view.last)
    this.view = view
    if (same) return this.drawNews() // of the engine alone: who is about to touch a piece finds it where it was
    this.from = ''
    this.drag = null
    this.draw()
    if (old?.game === view.game && old.flip === view.flip && !STILL.matches && !this.dropped) this.slide(read(old.position), read(view.position))
    this.dropped = false
  }

  draw () {
    const { game, position, legal, last, danger, flip, wide, pairs } = this.view
    const look = this.look = LOOKS[game]
    const hand = wide ? 0 : look.hand // the room above and below
    const left = EDGE + (wide ? look.hand : 0)
    const right = MARGIN + (wide ? look.hand : 0)
    const { rows, turn, hands } = read(position)
    const [width, height] = this.size = [rows[0].length, rows.length]
    this.focus = [Math.min(this.focus[0], width - 1), Math.min(this.focus[1], height - 1)]
    const cellHeight = 100 * look.ratio
    const [w, h] = [width * 100, height * cellHeight]
    const targets = new Set(legal.map(split).filter(move => move.from === this.from).map(move => move.to))
    const movable = new Set(legal.map(move => split(move).from))
    const focused = this.root.contains(document.activeElement) && document.activeElement.dataset?.at
    this.centres = new Map()

    const cell = (at, x, y, cellH, attributes, ...children) => {
      this.centres.set(at, [x, y])
      const marks = [at === this.from && 'from', targets.has(at) && 'target', last.includes(at) && 'last', at === danger && 'danger',
        movable.has(at) && 'movable']
      const square = svg('rect', { x: -50, y: -cellH / 2, width: 100, height: cellH })
      const group = svg('g', { 'data-at': at, class: ['cell', ...marks].filter(Boolean).join(' '),
        transform: `translate(${x} ${y})`, ...attributes }, square, ...children)
      if (targets.has(at)) group.append(svg('circle', { class: 'dot', r: 14 }))
      return group
    }
    const seen = (x, y) => flip ? [width - 1 - x, height - 1 - y] : [x, y]
    const grid = svg('g', { role: 'grid', 'aria-label': this.word('board') })
    rows.forEach((row, y) => grid.append(svg('g', { role: 'row' }, ...row.map((letter, x) => {
      const at = this.nameOf(x, y)
      const [column, line] = seen(x, y)
      const can = targets.has(at) ? `, ${this.word('target')}` : movable.has(at) ? `, ${this.word('movable')}` : ''
      const threatened = at === danger ? `, ${this.word('inDanger')}` : ''
      const focusable = x === this.focus[0] && y === this.focus[1]
      return cell(at, left + 100 * column + 50, MARGIN + hand + cellHeight * (line + 0.5), cellHeight, {
        role: 'gridcell', tabindex: focusable ? 0 : -1, 'aria-selected': at === this.from,
        'aria-label': `${at} ${letter ? this.say(letter, game) : this.word('empty')}${threatened}${can}`
      }, ...(letter ? [this.piece(letter)] : []))
    }))))
    const held = ['b', 'w'].map(side => svg('g', { role: 'group', class: 'hand',
      'aria-label': this.word(side === 'b' ? 'blacksHand' : 'whitesHand') },
    ...hands[side].map(([letter, count], place) => {
      const below = (side === 'b') === !flip
      const own = side === turn
      const along = 50 + 100 * place
      const [x, y] = wide
        ? [below ? left + w + MARGIN + look.hand / 2 - 4 : look.hand / 2 - 4, below ? MARGIN + h - along : MARGIN + along]
        : [below ? left + w - along : left + along, below ? 2 * MARGIN + hand + h + hand / 2 : hand / 2]
      const shown = side === 'b' ? letter : letter.toLowerCase()
      const number = count > 1 ? [svg('text', { class: 'count', x: 36, y: 46 }, String(count))] : []
      return cell(own ? `${letter}*` : `${shown}_held`, x, y, 100, { role: 'button', tabindex: own ? 0 : -1,
        'aria-pressed': `${letter}*` === this.from && own,
        'aria-label': `${this.say(shown, game)}, ${count} ${this.word('inHand')}` }, this.piece(shown), ...number)
    })))
    const coordinates = svg('g', { class: 'coordinates', 'aria-hidden': true })
    for (let x = 0; x < width; x++) {
      coordinates.append(svg('text', { x: left + 100 * seen(x, 0)[0] + 50, y: MARGIN + hand - 9 }, this.columns[x]))
    }
    for (let y = 0; y < height; y++) {
      const line = MARGIN + hand + cellHeight * (seen(0, y)[1] + 0.5) + 8
      coordinates.append(svg('text', { x: left + w + 17, y: line }, this.word(look.rows)[y]))
    }
    const pieces = svg('defs')
    pieces.innerHTML = Object.entries(pairs && look.pairs || look.pieces).map(([name, markup]) => `<g id="piece${name}">${markup}</g>`).join('')
    this.heat = svg('g', { class: 'heat', 'aria-hidden': true })
    this.arrows = svg('g', { class: 'arrows', 'aria-hidden': true })
    const ground = svg('rect', { class: 'ground', x: left, y: MARGIN + hand, width: w, height: h })
    ground.style.fill = look.colours?.[0] ?? ''
    const trays = !look.hand ? [] : (wide ? [[0, MARGIN], [left + w + MARGIN, MARGIN]] : [[left, 4], [left, 2 * MARGIN + hand + h + 4]])
      .map(([x, y]) => svg('rect', { class: 'tray', x, y, rx: 10,
        width: wide ? look.hand - 8 : w, height: wide ? h : hand - 8 }))
    const stars = (look.stars ?? []).flatMap(x => look.stars.map(y =>
      svg('circle', { class: 'star', cx: left + 100 * x, cy: MARGIN + hand + cellHeight * y, r: 6 })))
    this.ghost = svg('g', { class: 'ghost', 'aria-hidden': true })
    this.sliding = svg('g', { class: 'sliding', 'aria-hidden': true })
    const [wholeWidth, wholeHeight] = [w + left + right, h + 2 * hand + 2 * MARGIN + 8]
    const { style } = this.root.closest('section')
    style.setProperty('--aspect', wholeWidth / wholeHeight)
    style.setProperty('--over', `${100 * (MARGIN + hand) / wholeHeight}%`) // of it are above the squares
    style.setProperty('--under', `${100 * (MARGIN + hand + 8) / wholeHeight}%`)
    this.root.replaceChildren(svg('svg', { class: `board ${game}`, role: 'group', viewBox: `0 0 ${wholeWidth} ${wholeHeight}` },
    pieces, ground, ...stars, ...trays, this.heat, grid, ...held, coordinates, this.sliding, this.arrows, this.ghost))
    if (focused) this.cell(focused)?.focus({ preventScroll: true })
    this.drawNews()
  }

  /** The picture of a piece by its letter in an sfen. */
  piece (letter) {
    const black = isBlack(letter)
    return svg('use', {
      href: `#piece${letter.toUpperCase()}`,
      class: black ? 'black' : 'white',
      fill: this.look.colours?.[black ? 1 : 2] ?? '',
      transform: black === !this.view.flip ? '' : 'rotate(180)'
    })
  }

  /** What stands elsewhere than before slides there, and discs turn. */
  slide (before, now) {
    const squares = now.rows.flatMap((row, y) => row.map((letter, x) => ({ at: this.nameOf(x, y), old: before.rows[y][x], letter })))
      .filter(({ old, letter }) => old !== letter)
    const left = squares.filter(({ letter }) => !letter)
    const came = squares.filter(({ letter }) => letter).map(each => ({ ...each, from: left.find(({ old }) => old.at(-1) === each.letter.at(-1)) }))
    const turned = came.filter(({ old, letter, from }) => old && !from && old.toUpperCase() === letter.toUpperCase())
    for (const { at } of turned) this.cell(at).querySelector('use').animate({ transform: ['scaleX(.05)', 'scaleX(1)'] }, SLIDE)
    if (came.length - turned.length > 2) return // another game, or many moves at once
    for (const { at, letter, from } of came) {
      const piece = this.cell(at).querySelector('use')
      const start = this.centres.get(from?.at ?? `${letter.toUpperCase()}*`) ?? this.centres.get(`${letter}_held`)
      const end = this.centres.get(at)
      if (!start) continue
      const moving = svg('g', {}, piece.cloneNode())
      this.sliding.append(moving)
      piece.classList.add('hidden')
      const path = [start, end].map(([x, y]) => `translate(${x}px, ${y}px)`)
      moving.animate({ transform: path }, { duration: SLIDE, easing: 'ease-out' }).onfinish = () => {
        moving.remove()
        piece.classList.remove('hidden')
      }
    }
  }

  drawNews () {
    const { arrows, heat } = this.view
    this.heat.replaceChildren(...Object.entries(heat).flatMap(([at, share]) => {
      const centre = this.centres.get(at)
      const percent = Math.round(100 * share)
      if (!centre || !percent) return []
      return [svg('circle', { cx: centre[0], cy: centre[1], r: 20 + 27 * Math.sqrt(share), opacity: 0.25 + 0.7 * share }),
        svg('text', { x: centre[0] + 34, y: centre[1] - 32 }, String(percent))]
    }))
    const [shafts, rings] = [[], []] // no shaft covers a number
    for (const arrow of [...arrows].reverse()) this.arrow(arrow, shafts, rings)
    const own = this.ownOn === this.view.position ? [...this.own].map(each => this.ownMark(...each.split(' '))) : []
    this.arrows.replaceChildren(...shafts, ...rings, ...own)
  }

  arrow ({ move, label, weight, grade }, shafts, rings) {
    const { from, to } = split(move)
    const [start, end] = [this.centres.get(from), this.centres.get(to)]
    if (!end) return
    if (start) shafts.push(this.shaft(start, end, 3 + 6 * weight, { class: `loss${grade}`, opacity: 0.35 + 0.5 * weight }))
    rings.push(svg('circle', { class: `ring loss${grade}`, cx: end[0], cy: end[1], r: 25, opacity: 0.8 + 0.2 * weight }),
      svg('text', { class: label.length > 2 ? 'long' : '', x: end[0], y: end[1] + (label.length > 2 ? 7 : 9) }, label))
  }

  /** An arrow so many units to both sides of the line between two centres. */
  shaft (start, end, half, attributes) {
    const length = Math.hypot(end[0] - start[0], end[1] - start[1])
    const [ux, uy] = [(end[0] - start[0]) / length, (end[1] - start[1]) / length]
    const point = (along, aside) => `${start[0] + ux * along - uy * aside},${start[1] + uy * along + ux * aside}`
    const neck = length - 48
    return svg('polygon', { ...attributes, points: [point(24, half), point(neck, half), point(neck, half + 9),
      point(length - 20, 0), point(neck, -half - 9), point(neck, -half), point(24, -half)].join(' ') })
  }

  /** An arrow of the reader's own, or a ring where it ends where it began. */
  ownMark (from, to) {
    const [start, end] = [this.centres.get(from), this.centres.get(to)]
    if (from !== to) return this.shaft(start, end, 6, { class: 'own' })
    return svg('circle', { class: 'own', cx: start[0], cy: start[1], r: 44 })
  }

  say (letter, game) {
    return `${this.word(isBlack(letter) ? 'black' : 'white')} ${this.word(LOOKS[game].names[letter.toUpperCase()][0])}`
  }

  get columns () {
    return this.look.columns.slice(-this.size[0])
  }

  /** The name of the square in a column and a row, both from the top left. */
  nameOf (x, y) {
    return this.columns[x] + this.look.rows[y]
  }

  /** Its column and row. */
  place (at) {
    return [this.columns.indexOf(at[0]), this.look.rows.indexOf(at[1])]
  }

  cell (at) {
    return this.root.querySelector(`[data-at="${CSS.escape(at)}"]`)
  }

  /** The focus, on the square that has it among squares. */
  take () {
    const square = this.cell(this.nameOf(...this.focus))
    square.setAttribute('tabindex', 0)
    square.focus()
  }

  /** Whether a legal move begins on that square, or in the hand with that piece. */
  movable (at) {
    return this.view.legal.some(move => split(move).from === at)
  }

  async touch (at) {
    const fitting = this.view.legal.filter(move => split(move).from === this.from && split(move).to === at)
    if (fitting.length) {
      this.from = ''
      const move = fitting.length === 1 ? fitting[0] : await this.ask(fitting)
      if (move) return this.play(move)
    } else {
      const [tried, movable] = [this.from, this.movable(at)]
      this.from = tried !== at && movable ? at : ''
      if (!movable && (tried || this.cell(at)?.querySelector('use'))) this.refused(tried + at)
    }
    this.draw()
  }

  // Dragging, with the mouse or a pen: a finger scrolls the page, and taps. With the right button it draws an arrow.

  press (event) {
    this.root.classList.add('mouse')
    const at = event.target.closest('[data-at]')?.dataset.at
    if (event.button === 2) this.pointed = at ?? ''
    if (at && this.movable(at) && event.button === 0 && event.pointerType !== 'touch') {
      this.drag = { at, x: event.clientX, y: event.clientY, pulled: false }
    }
  }

  pull (event) {
    const { drag } = this
    if (!drag) return
    if (!drag.pulled && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > DRAGGED) {
      drag.pulled = true
      this.from = drag.at
      this.draw()
      const piece = this.cell(drag.at).querySelector('use')
      piece.classList.add('lifted')
      this.ghost.replaceChildren(piece.cloneNode())
    }
    if (drag.pulled) {
      const picture = this.root.querySelector('svg')
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse())
      this.ghost.setAttribute('transform', `translate(${x} ${y})`)
    }
  }

  release (event) {
    const to = document.elementFromPoint(event.clientX, event.clientY)?.closest('[data-at]')?.dataset.at
    if (event.button === 2) this.point(to)
    this.drop(to)
  }

  /** A piece that was pulled comes to a square where it may go; else it goes back. */
  drop (to) {
    const { drag, from } = this
    this.drag = null
    if (!drag?.pulled) return
    this.dropped = this.view.legal.some(move => split(move).from === from && split(move).to === to)
    if (this.dropped) return this.touch(to)
    if (to && to !== from) this.refused(from + to)
    this.from = ''
    this.draw()
  }

  /** An arrow of the reader's own comes, or goes if it is there. */
  point (to) {
    if (this.pointed && to) {
      if (this.ownOn !== this.view.position) this.own.clear()
      this.ownOn = this.view.position
      const mark = `${this.pointed} ${to}`
      if (!this.own.delete(mark)) this.own.add(mark)
      this.drawNews()
    }
    this.pointed = ''
  }

  /** Which of two moves that differ in the promotion; "" if neither. */
  ask (moves) {
    const dialog = made('dialog', { ariaLabel: this.word('promoteOrNot'), className: 'promotion' })
    const { from, to } = split(moves[0])
    const href = this.cell(from).querySelector('use').getAttribute('href')
    for (const move of [...moves].sort().reverse()) {
      const { promotes } = split(move)
      const shown = promotes ? href.replace('#piece', '#piece+') : href
      dialog.append(made('button', { onclick: () => dialog.close(move) },
        svg('svg', { viewBox: '-50 -50 100 100', width: 76, height: 80 }, svg('use', { href: shown })),
        this.word(promotes ? 'promote' : 'doNotPromote')))
    }
    this.root.append(dialog)
    dialog.showModal()
    const square = this.cell(to).getBoundingClientRect() // beside it: a second click on the square chooses nothing
    const { offsetWidth, offsetHeight } = dialog
    dialog.style.left = `${Math.max(4, Math.min(innerWidth - offsetWidth - 4, square.left + (square.width - offsetWidth) / 2))}px`
    dialog.style.top = `${square.top < innerHeight / 2 ? square.bottom : square.top - offsetHeight}px`
    return new Promise(resolve => {
      dialog.onclose = () => {
        dialog.remove()
        resolve(dialog.returnValue)
      }
    })
  }

  key (event) {
    const at = event.target.dataset?.at
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
    if (!at) return
    if (step && !this.root.classList.contains('mouse')) {
      if (event.target.getAttribute('role') === 'gridcell') { // from a hand the focus comes back to where it was
        const way = this.view.flip ? -1 : 1
        this.focus = this.place(at).map((value, axis) => Math.max(0, Math.min(this.size[axis] - 1, value + way * step[axis])))
        event.target.setAttribute('tabindex', -1)
      }
      this.take()
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.touch(at)
    } else if (event.key === 'Escape' && this.from) {
      this.touch(this.from)
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
}
