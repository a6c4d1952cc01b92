// The tokens of one data directory, stored as hashes. Only the holder of the lock of the data directory reads or writes them.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { scopes, tokenRoles } from '../../../domain/supervision/token-role.ts'
import { USER_NAME } from '../../../domain/supervision/user-name.ts'
import { type ConfigFileOptions, createConfigFile } from '../config-folder/config-file.ts'
import { checkTokens, type TokenRecord } from './token.ts'

export interface TokenFile {
  readonly path: string
  /** Null if the file does not exist yet. Throws `config_invalid` if it cannot be trusted or read. */
  read(): readonly TokenRecord[] | null
  /** The tokens are on disk when it returns. A crash leaves the old file or the new one. Throws `config_invalid` or `storage_full`. */
  write(records: readonly TokenRecord[]): void
}

const MAX_BYTES = 1_000_000

/** Strict: a key that this version does not know may be a limit. */
export const TokenRecordSchema = z
  .strictObject({
    id: z.string().min(1).max(64),
    name: z.string().max(200),
    user: z.string().regex(USER_NAME),
    role: z.enum(tokenRoles),
    workspace: z.string().min(1).max(4_096).exactOptional(),
    channel: z.string().min(1).max(200).exactOptional(),
    scopes: z.array(z.enum(scopes)).min(1).exactOptional(),
    agent: z.string().min(1).max(128).exactOptional(),
    expires_at: z.iso.datetime().exactOptional(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    created_at: z.iso.datetime(),
  })
  .refine(({ role, workspace }) => (role === 'agent') === (workspace !== undefined))

const ContentSchema = z.strictObject({
  /** For people who look into the folder. */
  data_dir: z.string(),
  tokens: z.array(TokenRecordSchema),
})

export function createTokenFile(options: ConfigFileOptions): TokenFile {
  const file = createConfigFile('tokens', options)
  const { path, dataDir } = file
  return {
    path,
    read() {
      const text = file.read({ maxBytes: MAX_BYTES, refuse: (why, cause) => unusable(path, why, cause) })
      return text === null ? null : parse(path, text)
    },
    write: (tokens) => file.write(`${JSON.stringify({ data_dir: dataDir, tokens }, null, 2)}\n`),
  }
}

function parse(path: string, text: string): readonly TokenRecord[] {
  const repair = 'Restore it, or remove it and create new tokens: quarterdeck tokens create'
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw unusable(path, `it is not valid JSON. ${repair}`)
  }
  const parsed = ContentSchema.safeParse(content)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const where = issue === undefined || issue.path.length === 0 ? '' : ` (${issue.path.join('.')})`
    throw unusable(path, `it is not a token file of this version${where}. ${repair}`)
  }
  return checkTokens(parsed.data.tokens)
}

function unusable(path: string, why: string, cause?: unknown): ServerError {
  return new ServerError('config_invalid', `The token file ${path} cannot be used: ${why}.`, {
    details: { path },
    cause,
  })
}
