// The page: what the server says is shown, what the person does is sent. The game itself is on the server.
import { Board } from './board.js'
import { after, split, touched } from './moves.js'
import { LANGUAGES, wordIn } from './words.js'

const MARKS = { '?!': 'mark1', '?': 'mark2', '??': 'mark3' }
const $ = id => document.getElementById(id)
const token = location.hash.slice(1)

let language = localStorage.getItem('language') ?? navigator.language.slice(0, 2)
if (!(language in LANGUAGES)) language = 'en'
let setup = null
let state = null
let info = null
let heat = {}
let turned = false
let wanted = null // the ply that was asked for, until the server shows it
let preview = null // {moves, plies}: a line that is stepped through
const word = name => wordIn(language, name)
const board = new Board($('board'), move => send({ do: 'move', move }), word)

// Talking with the server

async function post (path, body) {
  try {
    const answer = await fetch(path, { method: 'POST', body, headers: { 'X-Token': token } })
    $('error').textContent = answer.ok ? '' : (await answer.json()).error
  } catch {
    $('error').textContent = word('gone')
  }
}

const send = command => post('do', JSON.stringify({ generation: state.generation, ...command }))

// A page that is not seen holds no connection: browsers allow only a few to one address.
let news = null
function listen () {
  news?.close()
  news = null
  if (document.hidden) return
  news = new EventSource(`news?token=${encodeURIComponent(token)}`)
  news.onerror = () => { $('status').textContent = word(token ? 'gone' : 'tokenless') }
  const on = (kind, act) => news.addEventListener(kind, event => act(JSON.parse(event.data)))
  on('setup', message => { setup = message; fillNew() })
  on('state', message => {
    if (message.generation !== state?.generation) {
      info = null
      heat = {}
      preview = null
    }
    state = message
    if (state.at === wanted) wanted = null
    show()
  })
  on('info', message => {
    if (message.generation !== state.generation) return
    info = message
    state.winRates[message.ply] = message.winRate
    drawBoard()
    drawLines()
    drawGraph()
  })
  on('policy', message => {
    if (message.generation !== state.generation) return
    heat = {}
    for (const [move, prior] of Object.entries(message.priors)) {
      const { to } = split(move)
      heat[to] = Math.min(1, (heat[to] || 0) + prior)
    }
    drawBoard()
  })
}
document.addEventListener('visibilitychange', listen)

// Showing

function show () {
  Object.assign(document.body.dataset, { generation: state.generation, at: state.at, moves: state.moves.join(' '),
    ending: state.ending?.reason ?? '' })
  drawBoard()
  drawLines()
  drawGraph()
  drawMoves()
  drawSummary()
  const side = name => word(state.sides[name === 'black' ? 0 : 1] || 'person')
  const player = (name, place) => `${word(name)}: ${state.names[place] || side(name)}`
  $('players').textContent = `${player('black', 0)} — ${player('white', 1)}`
  $('status').textContent = statusText()
  if (state.error) $('error').textContent = state.error
  $('declare').hidden = !state.mayDeclare
  $('pass').hidden = !state.legal.includes('pass')
  $('policy').hidden = setup !== null && !setup.games[state.game].hasPolicy
  $('watch').textContent = word(state.watching ? 'pause' : 'watch')
  $('watch').setAttribute('aria-pressed', state.watching)
  $('judge').textContent = word(state.judging ? 'stop' : 'judge')
  $('progress').hidden = !state.judging
  $('progress').max = state.moves.length + 1
  $('progress').value = state.moves.length + 1 - state.judging
}

/** The count of the discs in Othello. */
function discs () {
  if (state.game !== 'othello') return ''
  const [board] = state.position.split(' ')
  return ` (${board.split('D').length - 1}-${board.split('d').length - 1})`
}

function statusText () {
  const { ending, turn, sides, at, moves } = state
  const names = [word('black'), word('white')]
  if (ending) {
    const joint = language === 'ja' ? '' : ' '
    const who = ending.winner === null ? word('nobody') : `${names[ending.winner]}${joint}${word('wins')}`
    return `${who} ${word(ending.reason)}${discs()}`
  }
  const place = `${at}${moves.length > at ? `/${moves.length}` : ''}`
  const thinking = sides[turn] && at === moves.length ? `: ${word('thinks')}` : ''
  const passed = moves[at - 1] === 'pass' ? ` ${word('passed')}` : ''
  const joint = language === 'ja' ? '' : ' '
  return `${place}:${joint}${names[turn]}${joint}${word('toMove')}${discs()}${thinking}${passed}`
}

function drawBoard () {
  let position = state.position
  let last = state.moves[state.at - 1]
  for (const move of preview ? preview.moves.slice(0, preview.plies) : []) {
    position = after(position, move)
    last = move
  }
  const best = info?.moveInfos[0]
  const arrows = preview ? [] : (info?.moveInfos ?? []).map(each => ({ move: each.move, label: label(each),
    weight: each.visits === null ? Math.max(0, 1 - 5 * (best.winrate - each.winrate)) : Math.sqrt((each.visits + 1) / (best.visits + 1)) }))
  board.show({ game: state.game, position, legal: preview ? [] : state.legal, last: touched(last), arrows,
    heat: preview ? {} : heat, flip: turned !== (Boolean(state.sides[0]) && !state.sides[1]) })
}

/** What stands on an arrow: the win rate in percent, in Othello the discs that it wins by. */
function label ({ winrate, scoreCp }) {
  if (state.game !== 'othello') return percent(winrate, 0)
  return `${scoreCp > 0 ? '+' : ''}${Math.round(scoreCp / 100)}`
}

const percent = (share, digits = 1) => (100 * share).toFixed(digits)

function made (name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

function drawLines () {
  const moveInfos = info?.moveInfos ?? []
  while ($('lines').children.length > moveInfos.length) $('lines').lastChild.remove()
  moveInfos.forEach((each, place) => {
    const row = $('lines').children[place] ?? $('lines').appendChild(lineRow(place))
    const cells = [each.move, `${percent(each.winrate)} %`, each.visits ?? '', each.pv.slice(1, 12).join(' ')]
    cells.forEach((text, column) => { row.children[column].textContent = text })
  })
  const root = info?.rootInfo
  $('speed').textContent = root ? `${root.visits} ${word('visits')}, ${root.visitsPerSecond ?? 0} ${word('visitsPerSecond')}` : ''
}

/** A candidate: pointed at, its line is shown on the board; the wheel, or the up and down keys, step through it. */
function lineRow (place) {
  const row = made('tr', { tabIndex: 0 }, ...Array.from({ length: 4 }, () => made('td')))
  const begin = () => {
    preview = { moves: info.moveInfos[place].pv, plies: info.moveInfos[place].pv.length }
    drawBoard()
  }
  const end = () => {
    preview = null
    drawBoard()
  }
  const step = by => {
    if (!preview) return
    preview.plies = Math.max(0, Math.min(preview.moves.length, preview.plies + by))
    drawBoard()
  }
  row.onmouseenter = row.onfocus = begin
  row.onmouseleave = row.onblur = end
  row.addEventListener('wheel', event => {
    event.preventDefault()
    step(Math.sign(event.deltaY))
  }, { passive: false })
  row.onkeydown = event => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by) {
      event.preventDefault()
      step(by)
    }
  }
  return row
}

function svg (name, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const key in attributes) element.setAttribute(key, attributes[key])
  return element
}

function drawGraph () {
  const last = Math.max(10, state.moves.length)
  const x = ply => 400 * ply / last
  const y = share => 5 + 120 * (1 - share)
  const known = state.winRates.flatMap((share, ply) => share === null || share === undefined ? [] : [[ply, share]])
  const mistakes = state.judged.filter(each => each.mark)
  $('graph').setAttribute('aria-label', word('graph'))
  $('graph').replaceChildren(
    svg('line', { class: 'middle', x1: 0, x2: 400, y1: y(0.5), y2: y(0.5) }),
    svg('line', { class: 'now', x1: x(state.at), x2: x(state.at), y1: 0, y2: 130 }),
    svg('polyline', { points: known.map(([ply, share]) => `${x(ply)},${y(share)}`).join(' ') }),
    ...mistakes.map(each => svg('circle', { class: MARKS[each.mark], cx: x(each.number), cy: y(each.winRate), r: 4 }))
  )
}

$('graph').onclick = event => {
  const box = $('graph').getBoundingClientRect()
  const last = Math.max(10, state.moves.length)
  goTo(Math.round((event.clientX - box.left) / box.width * last))
}

function drawMoves () {
  const judged = new Map(state.judged.map(each => [each.number, each]))
  $('moves').replaceChildren(...state.moves.map((move, index) => {
    const each = judged.get(index + 1)
    const lost = each?.mark ? ` ${each.mark} −${percent(each.loss)} % (${word('better')} ${each.best})` : ''
    const button = made('button', { textContent: move + lost, onclick: () => goTo(index + 1) })
    if (each?.mark) button.className = MARKS[each.mark]
    if (index + 1 === state.at) button.setAttribute('aria-current', 'step')
    return made('li', {}, button)
  }))
  const current = $('moves').querySelector('[aria-current]')
  if (current) $('moves').scrollTop = current.offsetTop - $('moves').offsetTop - 60
}

function drawSummary () {
  $('summary').replaceChildren(...['b', 'w'].flatMap((side, place) => {
    const own = state.judged.filter(each => each.side === side)
    if (!own.length) return []
    const found = own.filter(each => each.move === each.best).length
    const average = own.reduce((sum, each) => sum + each.loss, 0) / own.length
    const counts = Object.keys(MARKS).map(mark => `${own.filter(each => each.mark === mark).length} ${word(mark)}`)
    const name = word(place ? 'white' : 'black')
    return [made('p', { textContent: `${name}: ${word('found')} ${found} ${word('of')} ${own.length}, ` +
      `${percent(average)} % ${word('lost')}; ${counts.join(', ')}` })]
  }))
}

// Doing

const here = () => wanted ?? state.at

function goTo (ply) {
  const within = Math.max(0, Math.min(state.moves.length, ply))
  if (within === here()) return
  wanted = within
  send({ do: 'goto', ply: within })
}

const GO = {
  first: () => 0,
  back: () => here() - 1,
  forward: () => here() + 1,
  last: () => state.moves.length,
  previousMistake: () => mistakes().findLast(ply => ply < here()) ?? here(),
  nextMistake: () => mistakes().find(ply => ply > here()) ?? here()
}
const mistakes = () => state.judged.filter(each => each.mark).map(each => each.number)

const watch = on => send({ do: 'watch', on, lines: Number($('lineCount').value) })

const KEYS = {
  ArrowLeft: () => goTo(GO.back()),
  ArrowRight: () => goTo(GO.forward()),
  Home: () => goTo(0),
  End: () => goTo(state.moves.length),
  m: () => goTo(GO.nextMistake()),
  M: () => goTo(GO.previousMistake()),
  u: () => send({ do: 'undo' }),
  P: () => $('pass').click(),
  h: () => send({ do: 'hint' }),
  p: () => send({ do: 'policy' }),
  a: () => watch(!state.watching),
  f: () => $('turn').click()
}

document.addEventListener('keydown', event => {
  const busy = event.target.closest('input, textarea, select, dialog') || event.ctrlKey || event.metaKey || event.altKey
  if (state && !busy && event.key in KEYS) {
    event.preventDefault()
    KEYS[event.key]()
  }
})

for (const button of document.querySelectorAll('[data-do]')) button.onclick = () => send({ do: button.dataset.do })
for (const button of document.querySelectorAll('[data-go]')) button.onclick = () => goTo(GO[button.dataset.go]())
$('watch').onclick = () => KEYS.a()
$('pass').onclick = () => send({ do: 'move', move: 'pass' })
$('lineCount').onchange = () => state.watching && watch(true)
$('judge').onclick = () => send({ do: 'judge', on: !state.judging })
$('resign').onclick = () => confirm(word('confirmResign')) && send({ do: 'resign' })
$('turn').onclick = () => {
  turned = !turned
  drawBoard()
}

// A new game

function fillNew () {
  const options = (select, names) => select.replaceChildren(...names.map(name => made('option', {
    value: name, textContent: word(name || 'person') })))
  const game = $('game').value || Object.keys(setup.games)[0]
  options($('game'), Object.keys(setup.games))
  $('game').value = game
  for (const side of ['black', 'white']) {
    const before = $(side).value
    options($(side), ['', ...setup.games[game].opponents])
    $(side).value = setup.games[game].opponents.includes(before) ? before : ''
  }
  options($('startName'), setup.games[game].starts)
}

$('game').onchange = fillNew
$('new').onclick = () => {
  $('game').value = state.game
  fillNew()
  $('black').value = state.sides[0]
  $('white').value = state.sides[1]
  $('newDialog').showModal()
}
$('newDialog').onclose = () => {
  if ($('newDialog').returnValue !== 'start') return
  const start = $('startText').value.trim() || $('startName').value
  send({ do: 'new', game: $('game').value, start, sides: [$('black').value, $('white').value] })
}

// A record

const openRecord = data => post('record', data)
$('open').onclick = () => $('openDialog').showModal()
$('openDialog').onclose = () => {
  if ($('openDialog').returnValue !== 'open') return
  const [file] = $('recordFile').files
  openRecord(file ?? $('recordText').value)
  $('recordFile').value = $('recordText').value = ''
}
document.addEventListener('dragover', event => event.preventDefault())
document.addEventListener('drop', event => {
  event.preventDefault()
  const [file] = event.dataTransfer.files
  if (file) openRecord(file)
})
document.addEventListener('paste', event => {
  const text = event.clipboardData.getData('text')
  if (!event.target.closest('input, textarea') && text.includes('\n')) openRecord(text)
})

$('save').onclick = async () => {
  const answer = await fetch('record', { headers: { 'X-Token': token } })
  if (!answer.ok) {
    $('error').textContent = (await answer.json()).error
    return
  }
  const address = URL.createObjectURL(await answer.blob())
  made('a', { href: address, download: 'game.kif' }).click()
  URL.revokeObjectURL(address)
}

// The language

function speak () {
  document.documentElement.lang = language
  document.title = word('title')
  for (const element of document.querySelectorAll('[data-word]')) element.textContent = word(element.dataset.word)
  if (setup) fillNew()
  if (state) {
    show()
    board.draw()
    board.drawNews()
  }
}
$('language').onclick = () => {
  language = language === 'en' ? 'ja' : 'en'
  localStorage.setItem('language', language)
  speak()
}

$('status').textContent = word('connecting')
speak()
listen()
