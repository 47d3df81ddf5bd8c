// A board on which pieces are put as one likes. Whether that is a position is for the server to say.
import { Board } from './board.js'
import { $, made } from './dom.js'
import { isBlack, nameOf, read, write } from './moves.js'
import { LOOKS } from './pieces.js'

export class Editor {
  /** @param {(name: string) => string} word */
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

  /** @param {object} view what the game's board shows */
  open (view) {
    this.view = { ...view, legal: [], last: [], danger: '', arrows: [], heat: {}, wide: false }
    this.position = read(view.position)
    const { pieces, pairs, hand } = LOOKS[view.game]
    const letters = Object.keys(pieces)
    const choose = letter => {
      this.chosen = letter
      $('toBlack').disabled = $('toWhite').disabled = !letter
    }
    choose(letters[0])
    $('toBlack').hidden = $('toWhite').hidden = !hand
    $('palette').replaceChildren(...[...letters, '', ...letters.map(letter => letter.toLowerCase())].map(letter => {
      const input = made('input', { type: 'radio', name: 'piece', checked: letter === this.chosen, ariaLabel: this.word('erase'), onchange: () => choose(letter) })
      const label = made('label', { className: view.game }, input)
      if (!letter) {
        label.append(made('span', { className: 'erase', textContent: '×', title: this.word('erase') }))
        return label
      }
      const side = isBlack(letter) ? 'black' : 'white'
      input.ariaLabel = `${this.word(side)} ${this.word(LOOKS[view.game].names[letter.toUpperCase()])}`
      label.insertAdjacentHTML('beforeend', `<svg viewBox="-50 -50 100 100" aria-hidden="true"><g class="${side}" transform="${
        isBlack(letter) ? '' : 'rotate(180)'}">${(view.pairs && pairs || pieces)[letter.toUpperCase()]}</g></svg>`)
      return label
    }))
    this.draw()
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
    const letter = at[0]
    if (at.endsWith('*') || at.endsWith('_held')) {
      const black = at.endsWith('*') === (this.position.turn === 'b')
      this.give(black ? 'b' : 'w', -1, letter.toUpperCase())
      return
    }
    this.change(({ rows }) => rows.forEach((row, y) => row.forEach((piece, x) => {
      if (nameOf(x, y, rows) === at) row[x] = piece === this.chosen || (piece && !this.chosen) ? '' : this.chosen
    })))
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
