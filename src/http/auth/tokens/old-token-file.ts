// `tokens.json`: older versions stored tokens there in plain text, in the data directory. It is read once, to import its tokens.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { LOCAL_USER } from '../../../domain/session.ts'
import { readPrivateFile } from '../config-folder/read-private-file.ts'
import { checkTokens, checkTokenText, digestOf, personRoles, type Token } from './token.ts'

const MAX_BYTES = 64 * 1024

const ContentSchema = z.strictObject({
  token: z.string().optional(),
  operator_token: z.string().optional(),
  tokens: z
    .array(z.strictObject({ token: z.string(), user: z.string().regex(/^\w{1,64}$/), role: z.enum(personRoles) }))
    .default([]),
})

/**
 * The valid tokens of the file, or null if there is no such file. `replaced` are the roles whose first token was replaced by a setting:
 * that token was not valid and must not become valid. Throws `config_invalid` if the file cannot be used.
 */
export function readOldTokens(
  path: string,
  replaced: { user: boolean; operator: boolean },
): readonly (Omit<Token, 'id'> & { name: string })[] | null {
  const text = readPrivateFile(path, { maxBytes: MAX_BYTES, refuse: (why, cause) => unusable(path, why, cause) })
  if (text === null) return null
  const content = parse(path, text)
  const given = [
    ...(content.token === undefined || replaced.user
      ? []
      : [{ token: content.token, user: LOCAL_USER, role: 'user' as const }]),
    ...(content.operator_token === undefined || replaced.operator
      ? []
      : [{ token: content.operator_token, user: LOCAL_USER, role: 'operator' as const }]),
    ...content.tokens,
  ]
  for (const { token, user } of given) checkTokenText(token, user)
  const found = given.map(({ token, user, role }) => ({
    id: null,
    name: 'tokens.json',
    user,
    role,
    sha256: digestOf(token),
  }))
  return checkTokens(found)
}

function parse(path: string, text: string): z.infer<typeof ContentSchema> {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    // The parser's message quotes the text, which is secret.
    throw unusable(path, 'it is not valid JSON')
  }
  const parsed = ContentSchema.safeParse(content)
  if (parsed.success) return parsed.data
  const where = parsed.error.issues[0]?.path.join('.') ?? ''
  throw unusable(path, where === '' ? 'it is not a token file' : `${where} is not valid`)
}

function unusable(path: string, why: string, cause?: unknown): ServerError {
  return new ServerError(
    'config_invalid',
    `The tokens in ${path} cannot be imported: ${why}. Fix the file, or remove it and create new tokens: quarterdeck tokens create`,
    { details: { path }, cause },
  )
}
