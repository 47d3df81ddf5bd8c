// Records: how they come in, whether pasted, dropped or chosen, and how they are saved, copied and drawn.
import { $, present } from './dom.js'
import { copyField, offer, picture, png, textOf } from './share.js'

const MOST_BYTES = 1000000 // of a record, as the server has it

/** Text may be dragged into a field as everywhere; of all else the browser would make another page. */
const ofField = event => !event.dataTransfer.types.includes('Files') && event.target.matches?.('input, textarea')

export class Records {
  constructor (server, page) {
    Object.assign(this, { server, page, shown: '', choosing: 0 }) // how many games of the file were asked for and have not come
    this.hearOpening()
    this.hearCopying()
    $('fileNumber').onchange = () => this.choose()
    $('save').onclick = () => this.save()
  }

  hearOpening () {
    $('open').onclick = () => {
      $('recordFile').value = ''
      present($('openDialog'))
    }
    $('openDialog').onclose = async () => {
      if ($('openDialog').returnValue !== 'open') return
      const [file] = $('recordFile').files
      const text = $('recordText').value
      const answer = await this.open(file ?? text)
      if (answer?.ok && !file && $('recordText').value === text) $('recordText').value = '' // else it is there to be repaired
    }
    document.addEventListener('dragover', event => ofField(event) || event.preventDefault())
    document.addEventListener('drop', event => {
      if (ofField(event)) return
      event.preventDefault()
      const [file] = event.dataTransfer.files
      if (!file) return
      document.querySelector('dialog[open]')?.close('') // behind which nobody would see the game
      this.open(file)
    })
    document.addEventListener('paste', event => {
      const text = event.clipboardData.getData('text')
      if (!event.target.closest('input, textarea') && text.trim()) this.open(text)
    })
  }

  async open (data) {
    if (new Blob([data]).size > MOST_BYTES) { // not every browser hears what a server answers that reads no further
      this.server.told(`more than ${MOST_BYTES} bytes`)
      return
    }
    return this.page.underWay('openingRecord', this.server.post('record', data))
  }

  /** The record, in which engines, and a person who plays one, are called as on the page. */
  ask () {
    const [black, white] = this.page.state().sides.map((side, _, sides) =>
      side ? `pydlshogi (${this.page.level(side)})` : sides.some(Boolean) ? this.page.word('you') : '')
    return this.server.ask(`record?${new URLSearchParams({ black, white })}`)
  }

  async save () {
    const answer = await this.ask()
    if (!answer?.ok) return
    offer(await answer.blob(), decodeURIComponent(answer.headers.get('Content-Disposition').split("''")[1]))
  }

  /** Which game is shown of a file of several; a number that is being typed stays. */
  show () {
    const { file } = this.page.state()
    if (!file || this.choosing || this.shown === JSON.stringify(file)) return
    this.shown = JSON.stringify(file)
    Object.assign($('fileNumber'), { max: file.games, value: file.number })
    $('fileGames').textContent = `/ ${file.games}`
  }

  async choose () {
    this.choosing++
    const answer = await this.page.send({ do: 'choose', number: Number($('fileNumber').value) })
    this.choosing--
    if (!answer?.ok) $('fileNumber').value = this.page.state().file.number
    else this.show() // what came meanwhile has not touched the number
  }

  hearCopying () {
    const { state, word } = this.page
    const texts = {
      record: async () => textOf(await (await this.ask()).arrayBuffer()),
      position: () => state().position,
      line: () => `position sfen ${[state().start, ...(state().moves.length ? ['moves', ...state().moves] : [])].join(' ')}`
    }
    const fill = async () => {
      $('copyIt').textContent = word('copyIt')
      $('copyText').value = await texts[$('copyWhat').value]()
    }
    $('copy').onclick = async () => {
      await fill()
      present($('copyDialog'))
    }
    $('copyWhat').onchange = fill
    $('copyIt').onclick = async () => {
      await copyField($('copyText'))
      $('copyIt').textContent = word('copied')
    }
    $('svg').onclick = () => offer(new Blob([picture($('board').firstChild)], { type: 'image/svg+xml' }), 'board.svg')
    $('png').onclick = async () => offer(await png($('board').firstChild), 'board.png')
  }
}
