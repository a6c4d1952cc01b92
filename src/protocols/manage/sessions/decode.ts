// What the routes of sessions and runs take.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { isClientId } from '../../../domain/ids.ts'
import type { Request } from '../../../http/route.ts'
import { MessageSchema } from '../../shared/request/message-limits.ts'
import { SentFilesSchema, sentFiles } from '../../shared/request/sent-file.ts'
import { validBody } from '../../shared/request/validate.ts'
import { HostChoiceSchema } from '../../shared/supervised/schema.ts'

export const sessionTag = 'Sessions and runs'
export const sessionParams = { id: z.string().describe('UUID, ULID, or the name that its client chose.') }

export const NewMessageSchema = z
  .strictObject({
    message: MessageSchema.optional(),
    files: SentFilesSchema,
    agent: z.string().nullish(),
    model: z
      .string()
      .exactOptional()
      .describe(
        'Tries this model in the place of the agent’s own: one of `try_models` in the settings. For operators.',
      ),
    host: HostChoiceSchema.exactOptional(),
    replaces: z
      .string()
      .optional()
      .describe('A message of yours in this session, which this one replaces. It and what follows it stay in the log.'),
    again: z
      .string()
      .optional()
      .describe('In the place of a message: one of yours in this session, which gets another answer.'),
  })
  .refine(({ message, again }) => (message === undefined) !== (again === undefined), {
    error: 'Send a message, or `again` with the id of one.',
    path: ['message'],
  })
  .refine(({ files, replaces, again }) => again === undefined || (replaces === undefined && !files?.length), {
    error: '`again` goes with neither `replaces` nor files.',
    path: ['again'],
  })
  .meta({ id: 'NewMessage' })

/** Throws `invalid_request`. */
export function decodeNewMessage(body: unknown) {
  const { files, agent, ...sent } = validBody(NewMessageSchema, body, 'The body is not a valid message.')
  return { ...sent, agent: agent ?? null, files: sentFiles(files) }
}

/** The id in the path of a session or a run. Throws `malformed_id`. */
export function idOf(request: Pick<Request, 'params'>): string {
  const id = request.params.id ?? ''
  if (isClientId(id)) return id
  throw new ServerError(
    'malformed_id',
    `${JSON.stringify(id.slice(0, 140))} is not an id. Send a UUID, a ULID, or a name of 1 to 128 printable characters.`,
  )
}
