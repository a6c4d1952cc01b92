// The tokens of a server, made at its first start and kept in its data folder where only its user can read them.

import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import { LOCAL_USER } from '../domain/session.ts'
import { checkTokens, type Token } from './auth.ts'

export interface TokenFile {
  readonly path: string
  /** True when this start made the file, so that the tokens can be shown once. */
  readonly created: boolean
  /** The current tokens; the same array while they have not changed. None when the file has become unusable. */
  tokens(): readonly Token[]
}

export interface TokenFileOptions {
  dataDir: string
  clock: Clock
  log: Logger
  /** Tokens from the settings; each replaces the file's. */
  userToken?: string
  operatorToken?: string
  /** Tokens of named users, beside the two. */
  tokens?: readonly Token[]
  random?: (size: number) => Uint8Array
}

const FILE_NAME = 'tokens.json'
const CHECK_EVERY_MS = 1_000
const MAX_BYTES = 64 * 1024

/** Throws `config_invalid` when the file cannot be used. Later faults are logged and leave no token valid. */
export function openTokenFile(options: TokenFileOptions): TokenFile {
  const { dataDir, clock, log, random = randomBytes } = options
  const path = join(dataDir, FILE_NAME)
  const created = createOnce(path, random)
  let version = versionOf(path)
  let tokens = load(path, options)
  let checkedAt = clock.mono()

  return {
    path,
    created,
    tokens() {
      if (clock.mono() - checkedAt < CHECK_EVERY_MS) return tokens
      checkedAt = clock.mono()
      const current = versionOf(path)
      if (current === version) return tokens
      version = current
      try {
        tokens = load(path, options)
        log.info('tokens read again', { path })
      } catch (error) {
        // Whoever broke or removed the file may have meant to revoke what was in it.
        tokens = []
        log.error('no token is valid until the token file is repaired', { path, error })
      }
      return tokens
    },
  }
}

// Our own tokens are recognisable, so that logs can mask them without knowing them.
const newToken = (random: (size: number) => Uint8Array): string => `qd_${Buffer.from(random(32)).toString('base64url')}`

/** Complete or not at all, also when two servers start at once: a link fails where a file is already. */
function createOnce(path: string, random: (size: number) => Uint8Array): boolean {
  if (versionOf(path) !== null) return false
  const draft = `${path}.${Buffer.from(random(6)).toString('hex')}`
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      const content = { token: newToken(random), operator_token: newToken(random), tokens: [] }
      writeSync(file, `${JSON.stringify(content, null, 2)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    linkSync(draft, path)
    return true
  } catch (error) {
    if (versionOf(path) !== null) return false
    throw unusable(path, 'it cannot be written; check that the data folder exists and is yours', error)
  } finally {
    rmSync(draft, { force: true })
  }
}

function versionOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.ino}.${stat.size}.${stat.mtimeMs}`
}

function load(path: string, { userToken, operatorToken, tokens = [] }: TokenFileOptions): readonly Token[] {
  const content = parse(path, read(path))
  const user = userToken ?? content.token
  const operator = operatorToken ?? content.operatorToken
  return checkTokens([
    ...(user === undefined ? [] : [{ token: user, user: LOCAL_USER, role: 'user' as const }]),
    ...(operator === undefined ? [] : [{ token: operator, user: LOCAL_USER, role: 'operator' as const }]),
    ...content.tokens,
    ...tokens,
  ])
}

function read(path: string): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    throw unusable(path, 'it cannot be read', error)
  }
  try {
    const stat = fstatSync(file)
    if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
      throw unusable(path, `other users can read it; run: chmod 600 ${path}`)
    }
    if (!stat.isFile() || stat.size > MAX_BYTES) throw unusable(path, 'it is not a small file')
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

interface Content {
  token: string | undefined
  operatorToken: string | undefined
  tokens: Token[]
}

function parse(path: string, text: string): Content {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    // The parser's message quotes the text, which is secret.
    throw unusable(path, 'it is not valid JSON')
  }
  if (!isRecord(content)) throw unusable(path, 'it must hold one JSON object')
  const { token, operator_token: operatorToken, tokens = [], ...others } = content
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) throw unusable(path, `the key ${JSON.stringify(unknown)} is unknown`)
  if (!isOptionalString(token)) throw unusable(path, '"token" must be a string')
  if (!isOptionalString(operatorToken)) throw unusable(path, '"operator_token" must be a string')
  if (!Array.isArray(tokens) || !tokens.every(isToken)) {
    throw unusable(path, '"tokens" must be a list of {"token", "user", "role": "user" or "operator"}')
  }
  return { token, operatorToken, tokens }
}

function isToken(value: unknown): value is Token {
  return (
    isRecord(value) &&
    typeof value.token === 'string' &&
    typeof value.user === 'string' &&
    /^\w{1,64}$/.test(value.user) &&
    (value.role === 'user' || value.role === 'operator')
  )
}

const isOptionalString = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function unusable(path: string, why: string, cause?: unknown): ServerError {
  return new ServerError('config_invalid', `The token file ${path} cannot be used: ${why}.`, {
    details: { path },
    cause,
  })
}
