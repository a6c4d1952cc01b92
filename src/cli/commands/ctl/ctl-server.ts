// The running server, as the commands of `ctl` reach it: through its local socket, with the operator's token and, for decisions, the
// passphrase.

import { existsSync, readdirSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { ClientError } from '../../../client/client-error.ts'
import { type Call, type Connection, createConnection, nextIn } from '../../../client/connection.ts'
import { findConfigDir } from '../../../config/config-dir.ts'
import { sleep } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { passphraseHeaders } from '../../../http/auth/passphrase/require-passphrase.ts'
import { findCtlPlace } from '../../../operators/ctl/socket.ts'
import { CliError, failure, unavailable } from '../../cli-error.ts'
import { exitCodeOf } from '../../exit-codes.ts'
import { shellWord } from '../../program-name.ts'
import { operatorTokenIn } from '../../server-url.ts'
import type { Io } from '../../terminal/io.ts'
import { askSecret } from '../../terminal/terminal-prompt.ts'
import { terminalText } from '../../terminal/terminal-text.ts'
import { ctlPlace } from './ctl-place.ts'
import { createTypedPassphrase } from './typed-secret.ts'

export interface CtlContext {
  server: CtlServer
  io: Io
  json: boolean
  /** Prints the server's answer with `--json`, and otherwise the words. */
  say(answer: unknown, words: string): void
  /** Another verb, as one types it here for the same server. */
  typed(verb: string): string
}

export const runCtl = (options: CtlFlags, io: Io, verb: (context: CtlContext) => Promise<void>): Promise<void> =>
  orFail(
    (async () => {
      const json = options.json === true
      await verb({
        server: await openCtlServer(options, io),
        io,
        json,
        typed(verb) {
          const place = options.dataDir === undefined ? '' : ` --data-dir ${shellWord(options.dataDir)}`
          return `${io.program()} ctl ${verb}${place}`
        },
        say: (answer, words) => void io.stdout.write(json ? `${JSON.stringify(answer)}\n` : `${words}\n`),
      })
    })(),
  )

/** Every failure of these commands is one clear line, so that scripts have one thing to look at. */
export async function orFail<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ClientError) throw refusalOf(error)
    if (error instanceof ServerError) throw new CliError(exitCodeOf(error.code), error.message)
    throw error
  }
}

export interface CtlFlags {
  dataDir?: string
  passphraseFd?: string
  json?: boolean
}

export interface Page {
  answer: unknown
  next: string | null
}

export const pageIn = async (response: Response): Promise<Page> => ({
  answer: await response.json(),
  next: nextIn(response, 'before'),
})

export interface CtlServer {
  get(path: string): Promise<unknown>
  /** One page of a list. `next` begins the next one, as its `before`; null: there is none. */
  page(path: string): Promise<Page>
  /** Throws `ClientError` with what the server refused. The passphrase is asked for if the server wants it. */
  post(path: string, body?: object): Promise<unknown>
  /** The same, for what is changed. */
  patch(path: string, body: object): Promise<unknown>
  /** The same, for what is taken back. */
  delete(path: string): Promise<unknown>
  /** For streams. It tries again for ever while the server is away; `onAway` hears of each try. */
  patientConnection(onAway: () => void): Connection
  /** For whoever has the terminal for themselves: `lend` gives it back while the passphrase is typed. */
  lendTerminal(lend: <T>(work: () => Promise<T>) => Promise<T>): void
}

/** Nobody reads the name: requests go to the socket. */
const BASE = 'http://quarterdeck'
const PASSPHRASE_TRIES = 3

/** Finds the server of the data directory, and the operator's token. Throws `CliError`. */
async function openCtlServer(options: CtlFlags, io: Io): Promise<CtlServer> {
  const configDir = findConfigDir(io.env, process.platform)
  const socketAt = (folder: string, name: string | null): string =>
    findCtlPlace({ env: io.env, configDir, dataDir: folder, ipcName: name, platform: process.platform }).path
  const { dataDir, ipcName } = await ctlPlace(
    options,
    io,
    (place) =>
      existsSync(place.dataDir) && (process.platform === 'win32' || existsSync(socketAt(place.dataDir, place.ipcName))),
  )
  if (!existsSync(dataDir)) throw noServer(dataDir, 'there is no such folder')
  const socketOf = (folder: string): string => socketAt(folder, ipcName)
  const path = socketOf(dataDir)
  // Of several servers on one machine, each has a folder of its own and a passphrase of its own, so the person chooses.
  const others = () => replicaFolders(dataDir).filter((folder) => existsSync(socketOf(folder)))
  // Before a person types a token for nobody.
  if (process.platform !== 'win32' && !existsSync(path)) throw noServer(dataDir, `nothing listens at ${path}`, others())
  const token = await operatorToken(io)
  const passphrase = createTypedPassphrase({ dataDir, passphraseFd: options.passphraseFd }, io)
  const fetch = createSocketFetch(path)
  const wait = (ms: number, signal: AbortSignal | undefined) => sleep(io.clock, ms, signal)
  const connection = createConnection({ url: BASE, token, fetch, retries: 0, sleep: wait })
  let atTerminal = <T>(work: () => Promise<T>): Promise<T> => work()

  async function ask(call: Call): Promise<Response> {
    try {
      return await connection.once(call)
    } catch (error) {
      if (error instanceof ClientError && error.code === 'unreachable') throw noServer(dataDir, error.message, others())
      throw error
    }
  }

  /** The passphrase is asked for only when the server wants it, so it decides what needs one. */
  async function send(call: Call): Promise<unknown> {
    let sent = passphrase.kept()
    for (let tries = 1; ; tries += 1) {
      try {
        const response = await ask(sent === null ? call : { ...call, headers: passphraseHeaders(sent) })
        return response.status === 204 ? null : await response.json()
      } catch (error) {
        const code = error instanceof ClientError ? error.code : ''
        if (code === 'passphrase_wrong') passphrase.forget()
        const isAnother = code === 'passphrase_wrong' && passphrase.canRepeat && tries < PASSPHRASE_TRIES
        if (code !== 'passphrase_required' && !isAnother) throw error
        if (code === 'passphrase_required' && sent !== null) throw error
        sent = await atTerminal(() => {
          if (isAnother) io.stderr.write('This is not the passphrase. Try again.\n')
          return passphrase.ask()
        })
      }
    }
  }

  return {
    get: async (path) => (await ask({ method: 'GET', path })).json(),
    page: async (path) => await pageIn(await ask({ method: 'GET', path })),
    post: (path, body = {}) => send({ method: 'POST', path, body }),
    patch: (path, body) => send({ method: 'PATCH', path, body }),
    delete: (path) => send({ method: 'DELETE', path }),
    patientConnection: (onAway) =>
      createConnection({
        url: BASE,
        token,
        fetch,
        retries: Number.POSITIVE_INFINITY,
        sleep(ms, signal) {
          onAway()
          return wait(ms, signal)
        },
      }),
    lendTerminal(lend) {
      atTerminal = lend
    },
  }
}

/**
 * Nothing on this machine keeps the token: an agent of the same user could read it there, and over the network the token alone decides.
 * So it is typed, unless the person puts it into the environment of this one terminal.
 */
async function operatorToken(io: Io): Promise<string> {
  const set = operatorTokenIn(io.env)
  if (set !== undefined) return set
  if (io.stdin.isTTY === true && io.stderr.isTTY === true) {
    io.stderr.write(
      'No file keeps the operator’s token, only its hash. To type it once for this terminal:\n' +
        '  read -rs QUARTERDECK_OPERATOR_TOKEN && export QUARTERDECK_OPERATOR_TOKEN\n' +
        'Do not do that in a terminal in which an agent runs.\n',
    )
  }
  const token = await askSecret('The operator’s token (it is not shown): ', io)
  if (token !== null) return token
  throw failure('The operator’s token is needed: set QUARTERDECK_OPERATOR_TOKEN, or type it at a terminal.', [
    'If you have none: stop the server, run quarterdeck tokens create --role operator, and start it again.',
  ])
}

const noServer = (dataDir: string, why: string, others: readonly string[] = []): CliError =>
  unavailable(
    `No server runs for ${dataDir} (${why}).`,
    others.length === 0
      ? [
          'Start one with quarterdeck serve, or name the folder of the one that runs: QUARTERDECK_DATA_DIR=<folder>.',
          'If it runs as another user, run this command as that user, with its QUARTERDECK_CONFIG_DIR.',
        ]
      : [`Another server of this folder seems to run: QUARTERDECK_DATA_DIR=${others.join(', or ')}`],
  )

/** Where further servers on one database keep what belongs to this machine. */
function replicaFolders(dataDir: string): string[] {
  const folder = join(dataDir, 'replicas')
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

/** What the server said, as a failure of the command: one clear line. */
export function refusalOf(error: ClientError): CliError {
  const details = (error.problem?.errors ?? []).map(({ pointer, detail }) => `${pointer}: ${detail}`)
  return new CliError(exitCodeOf(error.code), oneLine([error.message, ...details].join(' ')))
}

const oneLine = (text: string): string => terminalText(text).replace(/\s+/g, ' ').trim()

// Not imported: as an ES module node:http loads all of Node's fetch.
const { request: openRequest } = process.getBuiltinModule('node:http')

/** `fetch` through the local socket at this path. It takes what our client sends: text bodies, plain headers and a signal. */
export function createSocketFetch(socketPath: string): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(String(input instanceof Request ? input.url : input))
    const { signal } = init
    signal?.throwIfAborted()
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = openRequest({
        socketPath,
        path: url.pathname + url.search,
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        agent: false,
        ...(signal ? { signal } : {}),
      })
      request.once('response', resolve)
      request.once('error', reject)
      request.end(typeof init.body === 'string' ? init.body : undefined)
    })
    const { statusCode = 502, headers } = response
    const plain = Object.entries(headers).map(([name, value]): [string, string] => [name, [value].flat().join(', ')])
    const hasBody = statusCode !== 204 && statusCode !== 304
    if (!hasBody) response.resume()
    // A connection that breaks off makes the reader fail. Node types the chunks as `any`.
    const body = hasBody ? (Readable.toWeb(response) as ReadableStream<Uint8Array>) : null
    return new Response(body, { status: statusCode, headers: plain })
  }
}
