// The pictures on the buttons, as lines in a square of 24, by the button's id.
import { svg } from './dom.js'

export const ICONS = {
  new: 'M12 5v14M5 12h14',
  undo: 'M8 5 4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-3',
  hint: 'M9 18h6M10 21h4M12 3a6 6 0 0 0-4 10.5c.7.7 1 1.5 1 2.5h6c0-1 .3-1.8 1-2.5A6 6 0 0 0 12 3z',
  resign: 'M6 21V4M6 5h12l-3 4 3 4H6',
  declare: 'M4 19h16M5 15 3 7l5 4 4-6 4 6 5-4-2 8z',
  pass: 'M5 6l8 6-8 6zM18 6v12',
  watch: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  policy: 'M13 3 5 14h6l-1 7 8-11h-6z',
  judge: 'M4 4v16h16M7 15l4-5 3 3 5-7',
  open: 'M3 6h6l2 2h10v11H3z',
  save: 'M12 4v11M7 10l5 5 5-5M4 20h16',
  copy: 'M8 8h12v12H8zM4 16V4h12',
  edit: 'M4 20l1-5L16 4l4 4L9 19zM13 7l4 4',
  earlier: 'M4 12a8 8 0 1 0 2.5-5.8M4 4v4h4M12 8v4l3 2',
  turn: 'M8 20V4M4 8l4-4 4 4M16 4v16M12 16l4 4 4-4',
  settings: 'M4 7h8M16 7h4M14 5v4M4 17h4M12 17h8M10 15v4',
  phone: 'M7 3h10v18H7zM11 18h2',
  first: 'M6 5v14M19 5l-9 7 9 7z',
  back: 'M16 5l-10 7 10 7z',
  forward: 'M8 5l10 7-10 7z',
  last: 'M18 5v14M5 5l9 7-9 7z'
}

/** Draws the picture of a button into it, before what it says. */
export function dress (button) {
  button.prepend(svg('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': true }, svg('path', { d: ICONS[button.dataset.icon] })))
}
