// The page's elements: by their ids, and new ones.

export const $ = id => document.getElementById(id)

export function made (name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}
