// What a client says the conversation was -> what a run takes of it. Pure.

import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { NewMessage, RunInput } from '../../domain/run.ts'

export interface Turn {
  role: 'instructions' | 'user' | 'assistant'
  text: string
}

export interface TakeOptions {
  /** The session's history is ours to keep: of what the client repeats, only what is new is taken. */
  continues: boolean
  /** The model is never shown more than this many; what is older would be stored for nothing. */
  maxMessages: number
  /** The field of the request that holds the turns, for messages about it. */
  field: string
}

/** On what came with the client's word for it: an assistant's message of these was not said by us. */
const FROM_CLIENT = { quarterdeck: { from: 'client' } }

/** Throws `invalid_request` when there is nothing new to answer. */
export function takeTurns(
  turns: readonly Turn[],
  { continues, maxMessages, field }: TakeOptions,
  ids: Ids,
): Pick<RunInput, 'messages' | 'instructions'> {
  const said = turns.filter(({ role }) => role !== 'instructions')
  const firstNew = said.findLastIndex(({ role }) => role === 'assistant') + 1
  const news = said.slice(firstNew)
  if (news.every(({ text }) => text.trim() === '')) {
    const problem = { pointer: `/${field}`, detail: 'The last message must be one of the user, with some text.' }
    throw new ServerError('invalid_request', 'There is nothing to answer.', { problems: [problem] })
  }
  const history = continues ? [] : said.slice(0, firstNew).slice(-maxMessages)
  const message = ({ role, text }: Turn): NewMessage => ({
    id: ids.uuid(),
    role: role === 'user' ? 'user' : 'assistant',
    content: text,
  })
  // Providers refuse an empty message.
  const filled = ({ text }: Turn) => text.trim() !== ''
  return {
    messages: [
      ...history.filter(filled).map((turn) => ({ ...message(turn), metadata: FROM_CLIENT })),
      ...news.filter(filled).map(message),
    ],
    instructions: turns.filter((turn) => turn.role === 'instructions' && filled(turn)).map(({ text }) => text),
  }
}
