// The console as the host of an app of an MCP server: JSON-RPC over messages, as SEP-1865 describes it. The app is a page of
// strangers. It gets only answers to what it asks, and it is stopped when it asks too much.

import { isRecord } from '../../../../src/domain/is-record.ts'

const PROTOCOL = '2026-01-26'
/** In one second. An app that is dragged about sends its size 60 times. */
const MOST_MESSAGES = 200
/** The server takes no more at once. */
const MOST_OPEN = 4
const MOST_HEIGHT = 800
const LONGEST_MESSAGE = 10_000

export interface AppHostOptions {
  /** Sends a message to the app. */
  send: (message: object) => void
  /** Asks the MCP server. */
  ask: (method: 'resources/read' | 'tools/call', params: Record<string, unknown>) => Promise<unknown>
  /** Asks the person whether to open the address. */
  openLink: (url: string) => Promise<boolean>
  /** Null: there is no field for a message. */
  suggest: ((text: string) => void) | null
  setHeight: (px: number) => void
  /** Why the app gets no answers any more. */
  stop: (why: string) => void
  toolInput: unknown
  result: unknown
  theme: 'light' | 'dark'
  now: () => number
}

/** Takes what the app says, message by message. */
export function createAppHost(options: AppHostOptions): (message: unknown) => void {
  const { send, ask, openLink, suggest, setHeight, stop, toolInput, result, theme, now } = options
  let isStopped = false
  let open = 0
  let second = 0
  let count = 0

  const notify = (method: string, params: unknown): void => send({ jsonrpc: '2.0', method, params })

  async function answerTo(method: string, params: Record<string, unknown>): Promise<unknown> {
    switch (method) {
      case 'ui/initialize':
        return {
          protocolVersion: PROTOCOL,
          hostInfo: { name: 'quarterdeck', version: '1' },
          hostCapabilities: {
            openLinks: {},
            serverTools: {},
            serverResources: {},
            ...(suggest === null ? {} : { message: { text: {} } }),
          },
          hostContext: { theme, displayMode: 'inline', availableDisplayModes: ['inline'], platform: 'web' },
        }
      case 'ping':
        return {}
      case 'tools/call':
      case 'resources/read':
        return await ask(method, params)
      case 'ui/open-link':
        return { isError: !(isWebAddress(params.url) && (await openLink(params.url))) }
      case 'ui/request-display-mode':
        return { mode: 'inline' }
      case 'ui/message': {
        const text = textIn(params.content)
        if (suggest === null || text === '') return { isError: true }
        suggest(text)
        return {}
      }
      default:
        throw new UnknownMethod(method)
    }
  }

  async function answer(id: string | number, method: string, params: Record<string, unknown>): Promise<void> {
    if (open >= MOST_OPEN) return send(failure(id, -32_000, 'Too many requests at once.'))
    open += 1
    try {
      send({ jsonrpc: '2.0', id, result: await answerTo(method, params) })
    } catch (error) {
      const code = error instanceof UnknownMethod ? -32_601 : -32_000
      send(failure(id, code, error instanceof Error ? error.message : 'The request failed.'))
    } finally {
      open -= 1
    }
  }

  return (message) => {
    if (isStopped) return
    const nowSecond = Math.floor(now() / 1_000)
    count = nowSecond === second ? count + 1 : 1
    second = nowSecond
    if (count > MOST_MESSAGES) {
      isStopped = true
      return stop('This app sent too many messages, so it was stopped.')
    }
    if (!isRecord(message) || message.jsonrpc !== '2.0' || typeof message.method !== 'string') return
    const { id, method } = message
    const params = isRecord(message.params) ? message.params : {}
    if (typeof id === 'string' || typeof id === 'number') return void answer(id, method, params)
    if (method === 'ui/notifications/size-changed' && typeof params.height === 'number') {
      setHeight(Math.min(Math.max(Math.ceil(params.height) || 0, 0), MOST_HEIGHT))
    }
    if (method === 'ui/notifications/initialized') {
      notify('ui/notifications/tool-input', { arguments: toolInput })
      notify('ui/notifications/tool-result', result)
    }
  }
}

class UnknownMethod extends Error {
  constructor(method: string) {
    super(`This host does not know ${method.slice(0, 100)}.`)
  }
}

const failure = (id: string | number, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

function isWebAddress(url: unknown): url is string {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}

const textIn = (content: unknown): string =>
  (Array.isArray(content) ? content : [])
    .flatMap((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : []))
    .join('\n')
    .slice(0, LONGEST_MESSAGE)

/** The page that the MCP server gave, and the address of the frame with what the page may load. Null: it is not a page. */
export function readAppPage(result: unknown, frame: string): { html: string; src: string; hasBorder: boolean } | null {
  const [page] = isRecord(result) && Array.isArray(result.contents) ? result.contents : []
  if (!isRecord(page) || !String(page.mimeType).startsWith('text/html')) return null
  const html = typeof page.text === 'string' ? page.text : textOf(page.blob)
  if (html === null) return null
  const meta = isRecord(page._meta) && isRecord(page._meta.ui) ? page._meta.ui : {}
  const csp = isRecord(meta.csp) ? meta.csp : {}
  const query = new URLSearchParams()
  for (const [name, list] of [
    ['connect', csp.connectDomains],
    ['resource', csp.resourceDomains],
    ['frame', csp.frameDomains],
  ] as const) {
    for (const domain of Array.isArray(list) ? list : []) if (typeof domain === 'string') query.append(name, domain)
  }
  return { html, src: `${frame}?${query}`, hasBorder: meta.prefersBorder !== false }
}

function textOf(base64: unknown): string | null {
  if (typeof base64 !== 'string') return null
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)))
  } catch {
    return null
  }
}
