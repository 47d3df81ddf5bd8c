// What can be taken elsewhere: texts for the clipboard, and the board as a picture.
import { made, svg } from './dom.js'

const STYLES = ['fill', 'stroke', 'stroke-width', 'opacity', 'visibility', 'paint-order', 'font-size', 'font-weight', 'font-family', 'text-anchor']
const SCALE = 2 // points of a PNG for each unit of the page

/** Copies what stands in a field, where the page has no clipboard too, or may not use it: as that of a phone in the local network. */
export async function copyField (field) {
  field.select()
  try {
    await navigator.clipboard.writeText(field.value)
  } catch {
    document.execCommand('copy')
  }
}

/** A record as the server sends it. KIF may be in the letters of old, and says so in its first line. */
export function textOf (bytes) {
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    text = new TextDecoder('shift_jis').decode(bytes)
  }
  return text.replace(/^#KIF .*\n/, '')
}

/** Offers a file to be saved. */
export function offer (blob, download) {
  const address = URL.createObjectURL(blob)
  made('a', { href: address, download }).click()
  URL.revokeObjectURL(address)
}

/** The board as an SVG that needs no style sheet. */
export function picture (board) {
  const copy = board.cloneNode(true)
  const [originals, copies] = [board, copy].map(root => [root, ...root.querySelectorAll('*')])
  originals.forEach((element, place) => {
    const own = getComputedStyle(element)
    const inherited = element === board ? {} : getComputedStyle(element.parentNode)
    for (const name of STYLES) if (own[name] !== inherited[name]) copies[place].setAttribute(name, own[name])
    copies[place].removeAttribute('class')
  })
  const { width, height } = board.viewBox.baseVal
  copy.prepend(svg('rect', { width, height, fill: getComputedStyle(document.body).backgroundColor }))
  Object.entries({ width, height, xmlns: board.namespaceURI }).forEach(([name, value]) => copy.setAttribute(name, value))
  return new XMLSerializer().serializeToString(copy)
}

/** The same as a PNG. */
export async function png (board) {
  const image = new Image()
  image.src = `data:image/svg+xml,${encodeURIComponent(picture(board))}`
  await image.decode()
  const { width, height } = board.getBoundingClientRect()
  const canvas = made('canvas', { width: SCALE * width, height: SCALE * height })
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height)
  return new Promise(resolve => canvas.toBlob(resolve))
}
