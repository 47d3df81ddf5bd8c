// What the reader likes: it is kept by the browser, and style.css, the board and the sounds go by it.
import { $, made } from './dom.js'

const CHOICES = { // the first is taken where nothing was chosen
  theme: ['wood', 'calm'],
  pieces: ['one', 'two'],
  sound: ['on', 'off'],
  letters: ['normal', 'large']
}

export class Settings {
  /**
   * @param {?Storage} storage
   * @param {() => void} changed
   */
  constructor (storage, changed) {
    Object.assign(this, { storage, changed, values: JSON.parse(storage?.getItem('settings') ?? '{}') })
    for (const [name, values] of Object.entries(CHOICES)) {
      const select = made('select', { id: name, onchange: () => this.set(name, select.value) })
      for (const value of values) select.append(made('option', { value }))
      $('choices').append(made('label', {}, made('span'), ' ', select))
      select.value = this.get(name)
      document.documentElement.dataset[name] = select.value
    }
  }

  /** What was chosen. */
  get (name) {
    const chosen = this.values[name]
    return CHOICES[name].includes(chosen) ? chosen : CHOICES[name][0]
  }

  set (name, value) {
    this.values[name] = value
    this.storage?.setItem('settings', JSON.stringify(this.values))
    document.documentElement.dataset[name] = value
    this.changed()
  }

  /** @param {(name: string) => string} word */
  speak (word) {
    for (const [name, values] of Object.entries(CHOICES)) {
      const select = $(name)
      select.closest('label').firstChild.textContent = word(name)
      values.forEach((value, place) => { select.options[place].textContent = word(`${name} ${value}`) })
    }
  }
}
