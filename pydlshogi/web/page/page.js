// The page: what the server says is shown, what the person does is sent. The game itself is on the server.
import { Board } from './board.js'
import { Candidates } from './candidates.js'
import { clicked, discsOf, drawHistogram, drawLosses, drawSummary, drawWinRates, inDiscs, percent, signed } from './chart.js'
import { $, made, present, say } from './dom.js'
import { Editor } from './editor.js'
import { Home } from './home.js'
import { MoveList, sentence } from './movelist.js'
import { LOOKS, learnLooks } from './pieces.js'
import { split, touched } from './position.js'
import { Records } from './records.js'
import { Server } from './server.js'
import { sound } from './sound.js'
import { isMoveOn, kind, mistakes, otherLevel, own, statusText } from './state.js'
import { LANGUAGES, learnWords, levelIn, reasonIn, wordIn } from './words.js'

const WIDE = matchMedia('(min-width: 821px), (min-width: 621px) and (max-height: 450px)') // room for the captured pieces beside the board
const server = new Server(location.hash.slice(1), reason => {
  $('error').textContent = reasonIn(language, reason || (state?.error ?? ''))
})
addEventListener('hashchange', () => location.reload())

let storage = null // what is kept for the page; nothing where the browser refuses, as with cookies
try {
  storage = localStorage
} catch {}

let language = storage?.getItem('language') ?? navigator.language.slice(0, 2)
if (!(language in LANGUAGES)) language = 'en'
let setup = null
let state = null // as the server says it
let heat = {}
let prepares = false // the engine is being loaded, or compiled even
let stateCame = 0 // when, in milliseconds
let turned = false
let wanted = null // {ply, generation}: what was asked for, until a state of that generation is shown
let revealed = 0 // the generation in which the reader wants to see what a better move would be
const word = name => wordIn(language, name, state && kind(state))
/** What the server says in English and in Japanese. */
const tell = ([english, japanese]) => language === 'ja' ? japanese : english
const board = new Board($('board'), async move => {
  if (!(await send({ do: 'move', move }))?.ok) board.draw() // a piece that was dragged goes back
}, word, move => state.legal.length && send({ do: 'why', move }))
const candidates = new Candidates(drawBoard)
const moveList = new MoveList($('moves'), goTo, send, word)

// Talking with the server

/** Say what goes on until the answer comes: what it brings about is told before. */
async function underWay (name, asked) {
  say('error', '')
  say('status', word(name))
  const answer = await asked
  if (!answer?.ok && $('status').textContent === word(name)) say('status', statusText(state, language))
  return answer
}

function send (command) {
  if (command.do === 'hint') revealed = state.generation
  const asked = server.post('do', JSON.stringify({ generation: state.generation, ...command }))
  return command.do === 'new' ? underWay('beginning', asked) : asked
}

const NEWS = {
  setup (message) {
    setup = home.setup = message
    learnLooks(setup.games)
    learnWords(setup.games)
    home.fill()
    $('suffixes').textContent = setup.suffixes.join(' ')
    $('recordFile').accept = setup.suffixes.join()
    if (!state) return
    offerHome()
    show()
  },
  state (message) {
    if (message.generation !== state?.generation) {
      candidates.take(message.game, null)
      heat = {}
    }
    if ((state?.error && !message.error) || $('error').textContent === word('gone')) $('error').textContent = ''
    if (state === null) $('lineCount').value = message.lines
    if (liked.sound === 'on' && isMoveOn(state, message)) sound(LOOKS[message.game].sound)
    state = home.state = message
    $('nav').inert = $('table').inert = false
    offerHome()
    stateCame = performance.now()
    forgetIfShown()
    show()
  },
  info (message) {
    if (message.generation !== state.generation || (veiled() && !state.watching)) return
    candidates.take(state.game, message)
    state.winRates[message.ply] = message.winRate
    drawBar()
    drawGraphAt(state.at)
    drawBoard()
    drawLines()
    drawWinRates($('graph'), state)
  },
  engine (message) {
    prepares = message.prepares
    if (state) drawOpening()
  },
  phone ({ address, code }) {
    $('phoneAddress').textContent = address
    $('code').innerHTML = code
    $('phone').hidden = false
  },
  policy (message) {
    if (message.generation !== state.generation) return
    heat = {}
    for (const [move, prior] of Object.entries(message.priors)) {
      const { to } = split(move)
      heat[to] = Math.min(1, (heat[to] || 0) + prior)
    }
    drawBoard()
  }
}

// Showing

function show () {
  const focused = document.activeElement
  const byKeyboard = focused.matches(':focus-visible')
  Object.assign(document.body.dataset, { generation: state.generation, at: state.at, moves: state.moves.join(' '),
    ending: state.ending?.reason ?? '' })
  drawBoard()
  drawLines()
  drawWinRates($('graph'), state)
  const { at, moves, written } = state // what mates stands among the moves that follow
  moveList.show(veiled() && state.asked.mate ? { ...state, moves: moves.slice(0, at), written: written.slice(0, at), variations: [] } : state, tell)
  drawSentence()
  drawJudged()
  drawClock()
  drawPlayers()
  drawBar()
  drawGraphAt(state.at)
  say('graphLabel', word(discsOf(state) ? 'discs label' : 'graph label'))
  say('lossesLabel', word('losses label'))
  say('status', statusText(state, language))
  $('status').className = state.ending ? 'ended' : ''
  say('comment', state.comment)
  drawOpening()
  drawBook()
  if (state.error) $('error').textContent = reasonIn(language, state.error)
  showButtons()
  // Of a button that is gone, or can be pressed no more, the page as a whole would have the focus.
  if (byKeyboard && (focused.closest('[hidden], :disabled') || document.activeElement === document.body)) board.take()
}

/** What can be done now, and first of all what most people will do. */
function showButtons () {
  const mine = state.legal.length > 0
  const over = state.ending !== null
  const judged = state.judged.length > 0
  const marked = mistakes(state).length > 0
  const { asked } = state
  $('new').disabled = !setup
  $('policy').disabled = !mine
  $('hint').disabled = !mine || state.watching
  $('resign').disabled = !mine || state.at < state.moves.length
  $('undo').disabled = !state.at && state.ending?.reason !== 'resignation'
  $('judge').disabled = !state.moves.length
  const hide = {
    declare: !state.mayDeclare, pass: !state.legal.includes('pass'), left: state.leftAt === null && !asked, earlier: !state.earlier,
    policy: setup !== null && !setup.games[state.game].hasPolicy, file: (state.file?.games ?? 1) < 2,
    endReview: !over || !state.moves.length || judged || state.judging, rematch: !over || asked || state.judging || state.file,
    otherLevel: !nextLevel() || asked || state.judging || state.file, previousMistake: !marked || asked,
    nextMistake: !marked || asked, noMistakes: !judged || state.judged.length < state.moves.length || marked || asked || state.judging || state.leftAt !== null,
    retry: asked ? asked.found !== false : !mistakes(state).includes(state.at), answer: !veiled(), progress: !state.judging,
    practise: state.practice.length < (asked && !state.earlier ? 2 : 1) || state.judging,
    pauseGame: !state.pace, oneMove: !state.pace?.paused || state.at < state.moves.length || state.thinks, pace: !state.pace
  }
  for (const [id, hidden] of Object.entries(hide)) $(id).hidden = Boolean(hidden)
  records.show()
  label($('watch'), state.watching ? 'pause' : 'watch')
  $('watch').setAttribute('aria-pressed', state.watching)
  label($('judge'), state.judging ? 'stop' : 'judge')
  const place = asked ? state.practice.indexOf(asked.ply) + 1 : 0
  say('practise', place ? `${word('nextTask')} (${place}/${state.practice.length})` : `${word('practise')} (${state.practice.length})`)
  say('otherLevel', `→ ${word(nextLevel() ?? '')}`)
  if (state.pace) {
    say('pauseGame', word(state.pace.paused ? 'goOnGame' : 'pauseGame'))
    $('pace').value = state.pace.seconds
  }
  const { look, left, of, own: yours, seconds } = state.judging ?? { left: 0, of: 1 }
  Object.assign($('progress'), { max: of, value: of - left })
  $('looked').textContent = look ? word(yours ? 'looked own' : 'looked').replace('#l', look).replace('#n', of - left + 1).replace('#o', of).replace('#s', Math.ceil(seconds) || '…') : ''
  const looksThrough = !state.sides[0] && !state.sides[1]
  const [, first] = [
    [state.legal.includes('pass') && state.at === state.moves.length, 'pass'], [state.judging, 'judge'], [state.pace?.paused, 'pauseGame'], [state.watching, 'watch'],
    [asked?.found && !hide.practise, 'practise'], [asked?.found, 'left'], [asked?.found === false, 'retry'], [asked, ''],
    [state.leftAt !== null, 'left'], [marked, 'nextMistake'], [judged, ''], [over, state.moves.length ? 'endReview' : 'rematch'], [state.file && state.moves.length, 'judge'],
    [!state.moves.length && looksThrough, 'new'], [true, '']
  ].find(([holds]) => holds)
  for (const button of document.querySelectorAll('main button')) button.classList.toggle('primary', button.id !== '' && button.id === first)
}

/** Whether nothing is shown of what the engine thinks: the reader is to find a better move. */
const veiled = () => state.asked?.ply === state.at && revealed !== state.generation

/** The opponent of another level who is offered at the end. */
const nextLevel = () => otherLevel(state, setup?.games[state.game].opponents ?? [])

/** White sits below where the board is turned, where a person has White against an engine, and where White is to find a move. */
const flipped = () => turned !== ((state.asked ? (state.turn + state.at + state.asked.ply) % 2 : own(state)) === 1)

/** Who plays a side. A saved game names levels in the language of who saved it, the page in the reader's. */
function playerName (place) {
  const name = state.names[place]
  const called = name.match(/^pydlshogi \((.+)\)$/)?.[1]
  const level = called && setup?.games[state.game].opponents.find(level =>
    [level, ...Object.keys(LANGUAGES).map(each => levelIn(each, level))].includes(called))
  return level ? word(level) : name || word(state.sides[place] || (own(state) === place ? 'you' : 'person'))
}

function drawPlayers () {
  for (const [seat, place] of [['near', Number(flipped())], ['far', Number(!flipped())]]) {
    const moves = !state.ending && state.turn === place
    $(`${seat}Player`).textContent = `${word(['black', 'white'][place])}: ${playerName(place)}`
    $(`${seat}Player`).className = moves ? 'turn' : ''
    document.querySelector(`.${seat} .mark`).className = `mark ${place ? 'white' : 'black'} ${moves ? 'active' : ''}`
  }
}

/** How much of winning is Black's in the position shown, where that is known. */
function drawBar () {
  const rate = state.winRates[state.at] ?? null
  const known = rate !== null && !veiled()
  $('bar').className = `${flipped() ? 'flipped' : ''} ${known ? '' : 'unknown'}`
  $('barBlack').style.height = `${100 * (known ? rate : 0.5)}%`
  $('barNumber').textContent = known ? percent(Math.max(rate, 1 - rate), 0) : ''
  $('barNumber').className = rate < 0.5 ? 'white' : '' // at the end of the side that is ahead
  $('bar').ariaLabel = `${word('black')} ${known ? `${percent(rate, 0)} %` : '?'}`
}

/** Main time and, once that is used up, what is left of the byoyomi. */
function drawClock () {
  if (!state) return
  const { clock } = state
  for (const place of [0, 1]) {
    const shown = $(`${place === Number(flipped()) ? 'near' : 'far'}Clock`)
    shown.hidden = !clock
    if (!clock) continue
    const running = clock.running === place
    const spent = running ? clock.spent + (clock.stands ? 0 : (performance.now() - stateCame) / 1000) : 0
    const main = clock.left[place] - spent
    const left = main > 0 || !clock.byoyomi ? main : clock.byoyomi + (running ? main : 0)
    const lost = state.ending?.reason === 'time' && state.ending.winner !== place
    const seconds = lost ? 0 : Math.max(0, Math.ceil(left))
    const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
    if (running && left < 10 && !clock.stands && shown.textContent !== text && liked.sound === 'on') sound('tick')
    shown.textContent = text
    shown.className = running ? (left < 10 ? 'running short' : 'running') : ''
  }
}
setInterval(drawClock, 200)

function drawBoard () {
  const [position, last] = candidates.stepped(state.position, state.moves[state.at - 1])
  const { preview, arrows } = candidates
  board.show({ game: state.game, position, legal: preview ? [] : state.legal, last: touched(last), danger: preview ? '' : state.inDanger, arrows,
    heat: preview ? {} : heat, flip: flipped(), wide: WIDE.matches,
    pairs: liked.pieces === 'two' })
}

const drawLines = () => candidates.draw(tell, word, (liked.worth || (language === 'ja' ? 'points' : 'rate')) === 'points')

for (const chart of ['graph', 'losses']) $(chart).onclick = event => goTo(clicked(event, state))
$('graph').onpointermove = event => pointAt(clicked(event, state))
$('graph').onpointerleave = () => pointAt(null)

function pointAt (ply) {
  drawWinRates($('graph'), state, ply)
  drawGraphAt(ply ?? state.at)
}

/** What the graph says of one place in it. */
function drawGraphAt (ply) {
  const discs = discsOf(state)
  const known = (discs ?? state.winRates)[ply] ?? null
  const place = language === 'ja' ? `${ply}${word('after')}` : `${word('after')} ${ply}`
  $('graphAt').textContent = known === null ? '' : `${discs ? `${signed(known)} ${word('discsLost')}` : `${percent(known)} %`} ${place}`
}

/** What there is to say of the move that led to the position shown, or of how to begin. */
function drawSentence () {
  const said = sentence(state, tell, word)
  const text = said.length ? said : [!state.moves.length && state.legal.length ? word(`advice ${state.game}`) : '']
  $('sentence').className = said.length ? '' : 'note'
  $('sentence').replaceChildren(...text)
  say('played', state.at ? `${word(state.turn ? 'black' : 'white')} ${tell(state.written[state.at - 1])}` : '')
}

/** What the opening is called; before that, where it lasts, that one has to wait for the engine. */
function drawOpening () {
  $('opening').className = prepares ? 'note late' : 'note'
  $('opening').textContent = prepares ? word('prepares') : state.opening.map(tell).join(' · ')
}

/** What a book knows of the position shown; a button plays it. */
function drawBook () {
  const shown = JSON.stringify([state.generation, veiled(), language])
  if ($('book').dataset.shown === shown) return // a button stays while it is pressed
  $('book').dataset.shown = shown
  $('book').replaceChildren(...(veiled() ? [] : state.book).map(([move, value, played, written]) => made('button', {
    textContent: `${tell(written)} ${value > 0 ? '+' : ''}${value} ×${played}`,
    title: word('bookMove'),
    disabled: !state.legal.includes(move),
    onclick: () => send({ do: 'move', move })
  })))
}

/** What the analysis of the whole game has found. */
function drawJudged () {
  $('judged').hidden = !state.judged.length
  $('summary').hidden = $('histogramFigure').hidden = !state.summary.length // as where a record has judged
  drawLosses($('losses'), state)
  if (setup) drawHistogram($('histogram'), state.summary, inDiscs(state) ? setup.discLosses : setup.losses.map(loss => `${percent(loss, 0)} %`))
  drawSummary($('summary'), state, word)
}

// Doing

const here = () => wanted?.ply ?? state.at

async function goTo (ply) {
  const within = Math.max(0, Math.min(state.moves.length, ply))
  if (within === here()) return
  const asked = wanted = { ply: within, generation: Infinity }
  const answer = await send({ do: 'goto', ply: within })
  asked.generation = answer?.ok ? (await answer.json()).generation : 0
  forgetIfShown()
}

function forgetIfShown () {
  if (state.generation >= wanted?.generation) wanted = null
}

const GO = {
  first: () => 0,
  back: () => here() - 1,
  forward: () => here() + 1,
  last: () => state.moves.length,
  previousMistake: () => mistakes(state).findLast(ply => ply < here()) ?? mistakes(state).at(-1) ?? here(),
  nextMistake: () => mistakes(state).find(ply => ply > here()) ?? mistakes(state)[0] ?? here() // a game is shown at its end when it is reviewed
}
const watch = on => send({ do: 'watch', on, lines: Number($('lineCount').value) })

const STEPS = { ArrowLeft: 'back', ArrowRight: 'forward', Home: 'first', End: 'last' }

document.addEventListener('keydown', event => {
  const busy = event.target.closest('input, textarea, select, dialog') || event.ctrlKey || event.metaKey || event.altKey
  const button = document.querySelector(`[data-go="${STEPS[event.key]}"], [data-key="${CSS.escape(event.key)}"]`)
  if (!state || busy || !button) return
  event.preventDefault()
  if (!button.hidden) button.click()
})

for (const button of document.querySelectorAll('[data-do]')) button.onclick = () => send({ do: button.dataset.do })
for (const button of document.querySelectorAll('[data-go]')) button.onclick = () => goTo(GO[button.dataset.go]())
$('watch').onclick = () => watch(!state.watching)
$('pass').onclick = () => send({ do: 'move', move: 'pass' })
$('left').onclick = () => send(state.leftAt === null ? { do: 'goto', ply: state.asked.ply + 1 } : { do: 'back' })
$('retry').onclick = () => send({ do: 'retry', ply: state.asked?.ply ?? here() - 1 })
$('pauseGame').onclick = () => send({ do: 'pause', on: !state.pace.paused })
$('pace').onchange = () => send({ do: 'pace', seconds: Number($('pace').value) })
$('lineCount').onchange = () => state.watching && watch(true)
$('judge').onclick = $('endReview').onclick = () => send({ do: 'judge', on: !state.judging, depth: Number($('depth').value) })
$('resign').onclick = () => present($('resignDialog'))
$('resignDialog').onclose = () => $('resignDialog').returnValue === 'resign' && send({ do: 'resign' })
$('turn').onclick = () => {
  turned = !turned
  show()
}
WIDE.onchange = () => state && drawBoard()
/** The same game once more, perhaps against another opponent; from the usual start the sides are changed. */
function rematch (opponent) {
  const { game, start, usual, clock } = state
  const sides = state.sides.map(side => side && (opponent ?? side))
  send({ do: 'new', game, start, sides: usual ? sides.reverse() : sides, clock: clock ? [clock.main, clock.byoyomi] : [0, 0] })
}
$('rematch').onclick = () => rematch()
$('otherLevel').onclick = () => rematch(nextLevel())

// A new game

const home = new Home(send, storage)
let offered = false // the home is open because there is no game

/** Where nobody has begun a game, what can be played is offered, until somebody begins one, in another tab perhaps. */
function offerHome () {
  if (!state.fresh && offered) {
    offered = false
    $('newDialog').close('')
  }
  if (setup && state.fresh && !offered) {
    offered = true
    home.prepare()
    present($('newDialog'))
  }
}
$('phone').onclick = () => present($('phoneDialog'))
$('new').onclick = () => {
  home.prepare()
  present($('newDialog'))
}
$('newDialog').onclose = async () => {
  const { returnValue } = $('newDialog')
  if (returnValue !== 'start') $('startText').value = ''
  if (returnValue === 'open') $('open').click()
  if (returnValue === 'earlier') send({ do: 'earlier' })
  if (returnValue !== 'start' || !await home.start()) return
  turned = false
  show() // the news of the game may have come first
  if (document.activeElement.matches(':focus-visible')) board.take() // whoever began it by keyboard
}

const records = new Records(server, { state: () => state, word, level: name => levelIn(language, name), send, underWay })

// A position of one's own

const editor = new Editor(word)
$('edit').onclick = () => {
  present($('editDialog'))
  editor.open(board.view)
}
$('editDialog').onclose = () => {
  editor.close()
  if ($('editDialog').returnValue !== 'play') return
  $('startText').value = editor.sfen
  home.prepare(state.game)
  present($('newDialog'))
}

// What the reader likes: it is kept by the browser, and style.css, the board and the sounds go by it

const liked = JSON.parse(storage?.getItem('settings') ?? '{}')
for (const select of document.querySelectorAll('[data-setting]')) {
  const take = () => { document.documentElement.dataset[select.id] = liked[select.id] = select.value }
  if ([...select.options].some(({ value }) => value === liked[select.id])) select.value = liked[select.id]
  take()
  select.onchange = () => {
    take()
    storage?.setItem('settings', JSON.stringify(liked))
    if (state) drawBoard()
  }
}
$('settings').onclick = () => present($('settingsDialog'))

// The language

/** A button with a picture has a short word below it, and the whole of it under the pointer. */
function label (button, name) {
  button.ariaLabel = wordIn(language, name)
  const about = wordIn(language, `about ${name}`)
  button.title = button.ariaLabel + (about === `about ${name}` ? '' : `: ${about}`) + (button.dataset.key ? ` (${button.dataset.key})` : '')
  say(button.querySelector('span'), wordIn(language, name, 'short'))
}

const nameOf = button => button.dataset.word ?? button.dataset.label

function speak () {
  document.documentElement.lang = language
  document.title = word('title')
  for (const element of document.querySelectorAll('[data-word]:not([data-icon])')) element.textContent = wordIn(language, element.dataset.word)
  for (const button of document.querySelectorAll('[data-word][data-icon]')) label(button, button.dataset.word)
  for (const element of document.querySelectorAll('[data-label]')) {
    element.ariaLabel = wordIn(language, element.dataset.label)
    if (element.matches('button')) element.title = element.ariaLabel
  }
  for (const button of document.querySelectorAll('#next [data-key]')) button.title = `${wordIn(language, nameOf(button))} (${button.dataset.key})`
  $('keys').replaceChildren(...[...document.querySelectorAll('[data-key]')].map(button =>
    made('li', {}, made('kbd', { textContent: button.dataset.key }), ` ${wordIn(language, nameOf(button))}`)))
  home.language = language
  home.fill()
  if (state) {
    show()
    board.draw()
  }
}
$('language').onclick = () => {
  language = language === 'en' ? 'ja' : 'en'
  storage?.setItem('language', language)
  speak()
}

$('status').textContent = word('connecting')
speak()
server.listen(NEWS, reason => { $('status').textContent = word(reason) })
