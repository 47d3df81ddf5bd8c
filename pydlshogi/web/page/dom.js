// The page's elements: by their ids, and new ones, of HTML and of SVG.

export const $ = id => document.getElementById(id)

export function made (name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

export function svg (name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const key in attributes) element.setAttribute(key, attributes[key])
  element.append(...children)
  return element
}

/** What is read out by a screen reader, unless it says that already. */
export function say (place, text) {
  const element = typeof place === 'string' ? $(place) : place
  if (element.textContent !== text) element.textContent = text
}

/** Not every browser forgets by Escape what a dialog was answered last. */
export function present (dialog) {
  dialog.returnValue = ''
  dialog.showModal()
}
