// Where games begin: which game, against whom, on which side, with how much time. What was chosen last is remembered.
import { $, made, svg } from './dom.js'
import { LOOKS } from './pieces.js'
import { kind } from './state.js'
import { wordIn } from './words.js'

const MINUTES = [0, 1, 3, 5, 10, 15, 30, 60] // that a clock may have
const SECONDS = [0, 5, 10, 30, 60]
const REMEMBERED = ['opponent', 'side', 'other', 'mainTime', 'byoyomi']

export class Home {
  constructor (send, storage) {
    Object.assign(this, { send, storage, setup: null, language: 'en', state: null })
    this.chosen = JSON.parse(storage?.getItem('lastGame') ?? '{}')
    for (const id of ['opponent', 'side', 'startName']) $(id).onchange = () => this.fill()
  }

  get game () {
    return $('cards').querySelector(':checked')?.value
  }

  word (name, kind) {
    return wordIn(this.language, name, kind)
  }

  /** Draw what can be chosen, with what is chosen now. */
  fill () {
    if (!this.setup) return
    if (!$('cards').children.length) this.makeCards()
    const game = this.game
    for (const card of $('cards').children) {
      card.querySelector('.name').textContent = this.word(card.dataset.game)
      card.querySelector('.note').textContent = this.word(`about ${card.dataset.game}`)
    }
    const { opponents, starts } = this.setup.games[game]
    const from = [...starts, ...(game === this.state?.game ? ['position shown'] : [])]
    this.options('startName', from.map(name => [name, this.word(name, game)]), starts[0])
    const start = $('startName').value
    const begun = start === 'position shown' ? kind(this.state) : start === 'even' ? game : 'odds'
    const engines = opponents.map(name => [name, this.word(name)])
    this.options('opponent', [...engines, ['', this.word('person')]], opponents[0])
    this.options('side', [['0', this.word('black', begun)], ['1', this.word('white', begun)], ['watch', this.word('watchGame')]], '0')
    this.options('other', engines, opponents[0])
    this.options('mainTime', MINUTES.map(value => [value, value ? `${value} ${this.word('minutes')}` : this.word('none')]), '0')
    this.options('byoyomi', SECONDS.map(value => [value, value ? `${value} ${this.word('seconds')}` : this.word('none')]), '0')
    $('sideField').hidden = !$('opponent').value
    $('otherField').hidden = $('sideField').hidden || $('side').value !== 'watch'
    $('opponentLabel').textContent = this.word($('otherField').hidden ? 'opponent' : 'black', begun)
    $('otherLabel').textContent = this.word('white', begun)
    $('startField').hidden = from.length === 1
    $('startTextLabel').textContent = this.word('sfen', game)
    const network = this.setup.networks[game]
    const measured = network === this.setup.games[game].network
    const near = measured ? this.setup.games[game].near[$('opponent').value] ?? [] : [] // the levels beside it
    $('strength').textContent = [...near.map(([way, elo, other, won]) => this.word(way).replace('#e', elo).replace('#o', this.word(other)).replace('#n', won)),
      network && `${this.word('network')}: ${network}`].join(this.language === 'ja' ? '' : ' ')
  }

  makeCards () {
    const names = Object.keys(this.setup.games)
    const chosen = names.includes(this.chosen.game) ? this.chosen.game : names[0]
    $('cards').replaceChildren(...names.map(name => {
      const picture = svg('svg', { viewBox: '-50 -50 100 100', class: `picture ${name}`, fill: LOOKS[name].colours?.[1] ?? '' })
      picture.innerHTML = LOOKS[name].picture ?? Object.values(LOOKS[name].pieces)[0]
      const input = made('input', { type: 'radio', name: 'game', value: name, checked: name === chosen })
      input.onchange = () => this.fill()
      const card = made('label', { className: 'card' }, input, picture, made('span', { className: 'name' }), made('span', { className: 'note' }))
      card.dataset.game = name
      return card
    }))
  }

  /** The options of a list, each a value and its words; what was chosen stays, else it is what was chosen last time. */
  options (id, options, first) {
    const values = options.map(([value]) => String(value))
    const wanted = [$(id).options.length ? $(id).value : this.chosen[id], this.chosen[id], first]
    $(id).replaceChildren(...options.map(([value, textContent]) => made('option', { value, textContent })))
    $(id).value = wanted.find(value => values.includes(String(value)))
  }

  /** A text that was refused is there to be repaired, with what stands above it. `game`: the one to be chosen. */
  prepare (game) {
    const card = $('cards').querySelector(`[value=${game}]`)
    if (card) card.checked = true
    if ($('startName').value === 'position shown') $('startName').value = '' // that was another one
    $('goOn').hidden = !this.state.earlier
    $('startDetails').open = Boolean($('startText').value)
    this.fill()
  }

  /** Send what was chosen. Returns whether the game has begun. */
  async start () {
    const text = $('startText').value
    const opponent = $('opponent').value
    const sides = !opponent ? ['', ''] : { 0: ['', opponent], 1: [opponent, ''], watch: [opponent, $('other').value] }[$('side').value]
    const clock = [60 * $('mainTime').value, Number($('byoyomi').value)]
    const answer = await this.send({ do: 'new', game: this.game, start: text.trim() || $('startName').value, sides, clock })
    if (!answer?.ok) return false
    this.chosen = { game: this.game, ...Object.fromEntries(REMEMBERED.map(id => [id, $(id).value])) }
    this.storage?.setItem('lastGame', JSON.stringify(this.chosen))
    // Or it would begin the next game too, whatever is chosen above it.
    if ($('startText').value === text) $('startText').value = ''
    return true
  }
}
