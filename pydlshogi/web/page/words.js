// What the page says: the words of words.en.json and words.ja.json, and patterns for what is most often wrong with a record
// or a position, which name what it is about.

const read = async name => (await fetch(`words.${name}.json`)).json()

export const LANGUAGES = { en: await read('en'), ja: await read('ja') }

/** The word for `name`, in a game that may have one of its own; what has none is its own word. */
export function wordIn (language, name, game) {
  const { words } = LANGUAGES[language]
  return words[`${name} ${game}`] ?? words[name] ?? name
}

/** How records name a level or an engine: "beginner" of "level 1 (beginner)", "full strength" of "engine: full strength". */
export const levelIn = (language, level) => wordIn(language, level).replace(/^.+\d+ \((.+)\)$|^.+?: /, '$1')

/** Take in the words that games bring along. */
export function learnWords (games) {
  for (const [name, { look }] of Object.entries(games)) {
    const words = look.title ? { [name]: look.title, [`about ${name}`]: look.about, [`advice ${name}`]: look.advice } : {}
    for (const language of Object.values(LANGUAGES)) Object.assign(language.words, words)
    for (const [english, japanese] of Object.values(look.names)) LANGUAGES.ja.words[english] = japanese
  }
}

/** What the server says was wrong, in words of the language as far as it has them. */
export function reasonIn (language, reason) {
  return LANGUAGES[language].reasons.reduce((text, [said, told]) => text.replace(new RegExp(said), told), wordIn(language, reason))
}
