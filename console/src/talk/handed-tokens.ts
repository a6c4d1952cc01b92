// In a frame, the page around it signs people in: it hands over a token, and a new one when that has ended. The token is in memory only.
// Both sides say for whom a message is and look whom it is from.

import type { Wrap } from '../data/requests.ts'

/** From the frame: it needs a token. */
export const WANTED = 'quarterdeck:token-wanted'
/** To the frame: `{ type, token }`, and maybe `theme`. */
export const HANDED = 'quarterdeck:token'

interface HandedTokensOptions {
  /** Origins of the pages that may hand tokens over. */
  origins: readonly string[]
  /** The page around the frame. */
  around: { postMessage(message: unknown, origin: string): void }
  /** Whether the server takes the token, for the person whom the frame is shown to. */
  accept: (token: string) => Promise<boolean>
  onTheme: (theme: 'light' | 'dark') => void
  /** How often it asks, and how long a request waits for an answer. */
  askMs?: number
  waitMs?: number
}

export type HandedTokens = ReturnType<typeof createHandedTokens>

export function createHandedTokens(options: HandedTokensOptions) {
  const { origins, around, accept, onTheme, askMs = 2_000, waitMs = 20_000 } = options
  let token: string | null = null
  let waiting: PromiseWithResolvers<string> | null = null
  let timer: ReturnType<typeof setInterval> | undefined

  const ask = (): void => {
    for (const origin of origins) around.postMessage({ type: WANTED }, origin)
  }

  /** Resolves when a token was handed over, however long that takes. */
  function wanted(): Promise<string> {
    if (waiting === null) {
      waiting = Promise.withResolvers()
      ask()
      // The page around may not listen yet.
      timer = setInterval(ask, askMs)
    }
    return waiting.promise
  }

  /** Null: nobody has handed one over in time. */
  async function current(): Promise<string | null> {
    if (token !== null) return token
    const late = Promise.withResolvers<null>()
    const limit = setTimeout(() => late.resolve(null), waitMs)
    return Promise.race([wanted(), late.promise]).finally(() => clearTimeout(limit))
  }

  const wrap: Wrap = (send) => async (input, init) => {
    const withToken = (handed: string | null): Promise<Response> => {
      const headers = new Headers(init?.headers)
      if (handed !== null) headers.set('Authorization', `Bearer ${handed}`)
      return send(input, { ...init, headers, credentials: 'omit' })
    }
    const used = await current()
    const answer = await withToken(used)
    if (answer.status !== 401 || used === null) return answer
    // It has ended. Another request may have a new one by now.
    if (token === used) token = null
    const next = await current()
    return next === null ? answer : withToken(next)
  }

  return {
    /** For every message that the frame gets. */
    async hear({ source, origin, data }: Pick<MessageEvent<unknown>, 'source' | 'origin' | 'data'>): Promise<void> {
      if (source !== around || !origins.includes(origin)) return
      const sent = readHanded(data)
      if (sent === null) return
      if (sent.theme !== null) onTheme(sent.theme)
      if (!(await accept(sent.token))) return
      token = sent.token
      clearInterval(timer)
      waiting?.resolve(token)
      waiting = null
    },
    wanted,
    wrap,
  }
}

/** Null: it is a message about something else. */
function readHanded(data: unknown): { token: string; theme: 'light' | 'dark' | null } | null {
  const { type, token, theme } = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>
  if (type !== HANDED || typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) return null
  return { token, theme: theme === 'light' || theme === 'dark' ? theme : null }
}
