// A board on which pieces are put as one likes. Whether that is a position is for the server to say.
import { Board } from './board.js'
import { $, made, svg } from './dom.js'
import { LOOKS } from './pieces.js'
import { read, write } from './position.js'

export class Editor {
  constructor (word) {
    Object.assign(this, { word, view: null, position: null, chosen: '' })
    this.board = new Board($('editBoard'), () => {}, word)
    this.board.touch = at => this.put(at)
    for (const [id, side] of [['toBlack', 'b'], ['toWhite', 'w']]) $(id).onclick = () => this.give(side, 1)
    $('clear').onclick = () => this.change(({ rows, hands }) => {
      for (const row of rows) row.fill('')
      hands.b = hands.w = []
    })
    $('sideToMove').onclick = () => this.change(position => { position.turn = position.turn === 'b' ? 'w' : 'b' })
  }

  get sfen () {
    return `${write(this.position)} 1`
  }

  /** Begin from what the game's board shows. */
  open (view) {
    this.view = { ...view, legal: [], last: [], danger: '', arrows: [], heat: {}, wide: false }
    this.position = read(view.position)
    this.draw()
    const { pieces, hand } = LOOKS[view.game]
    const letters = Object.keys(pieces)
    const choose = letter => {
      this.chosen = letter
      $('toBlack').disabled = $('toWhite').disabled = !letter
    }
    choose(letters[0])
    $('toBlack').hidden = $('toWhite').hidden = !hand
    $('palette').replaceChildren(...[...letters, '', ...letters.map(letter => letter.toLowerCase())].map(letter => {
      const name = letter ? this.board.say(letter, view.game) : this.word('erase')
      const input = made('input', { type: 'radio', name: 'piece', checked: letter === this.chosen, ariaLabel: name, onchange: () => choose(letter) })
      return made('label', { className: view.game }, input, !letter ? made('span', { className: 'erase', textContent: '×' })
        : svg('svg', { viewBox: '-50 -50 100 100', 'aria-hidden': true }, this.board.piece(letter)))
    }))
  }

  /** No square is there twice. */
  close () {
    this.board.view = null
    $('editBoard').replaceChildren()
  }

  draw () {
    this.board.show({ ...this.view, position: write(this.position) })
    $('sideToMove').textContent = `${this.word('sideToMove')}: ${this.word(this.position.turn === 'b' ? 'black' : 'white')}`
  }

  change (act) {
    act(this.position)
    this.draw()
  }

  /** The chosen piece comes to a square, or what stands there goes; a piece in a hand goes. */
  put (at) {
    if (at.endsWith('*') || at.endsWith('_held')) {
      const black = at.endsWith('*') === (this.position.turn === 'b')
      this.give(black ? 'b' : 'w', -1, at[0].toUpperCase())
      return
    }
    const [x, y] = this.board.place(at)
    this.change(({ rows }) => { rows[y][x] = rows[y][x] === this.chosen ? '' : this.chosen })
  }

  /** So many pieces more in a hand. */
  give (side, more, letter = this.chosen.at(-1).toUpperCase()) {
    this.change(({ hands }) => {
      const hand = new Map(hands[side])
      hand.set(letter, (hand.get(letter) ?? 0) + more)
      hands[side] = [...hand].filter(([, count]) => count > 0)
    })
  }
}
