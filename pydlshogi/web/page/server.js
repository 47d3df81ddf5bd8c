// Talking with the server: what is asked of it, one after the other, and the news that it sends.

export class Server {
  /** `told` is called with what was wrong with the last request; '': nothing, 'gone': nobody answers. */
  constructor (token, told) {
    Object.assign(this, { token, told, answered: Promise.resolve(), news: null })
  }

  /** The answer, once it is told what was wrong; undefined where nobody answers. */
  async ask (path, request) {
    try {
      const answer = await fetch(path, { ...request, headers: { 'X-Token': this.token } })
      this.told(answer.ok ? '' : (await answer.json()).error)
      return answer
    } catch {
      this.told('gone')
    }
  }

  /** The answer likewise. Requests under way together may be met in any order: each waits for the answer to the one before. */
  post (path, body) {
    this.answered = this.answered.then(() => this.ask(path, { method: 'POST', body }))
    return this.answered
  }

  /** Hear the news as long as the page is seen. One that is not holds no connection: browsers allow only a few to one address. */
  listen (kinds, silent) {
    const connect = () => {
      this.news?.close()
      this.news = null
      if (document.hidden) return
      this.news = new EventSource(`news?token=${encodeURIComponent(this.token)}`)
      // Who answers, but not with news, does not know the token.
      this.news.onerror = ({ target }) => silent(target.readyState === EventSource.CLOSED ? 'tokenless' : 'gone')
      for (const [kind, act] of Object.entries(kinds)) this.news.addEventListener(kind, event => act(JSON.parse(event.data)))
    }
    document.addEventListener('visibilitychange', connect)
    connect()
  }
}
