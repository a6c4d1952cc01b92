// What people think of an answer, on the wire.

import { z } from 'zod'
import { isoTime } from '../../../domain/clock.ts'
import { type Feedback, feedbackValues } from '../../../domain/session/message.ts'

export const FeedbackValueSchema = z.enum(feedbackValues)

export const FeedbackSchema = z.strictObject({
  value: FeedbackValueSchema,
  note: z.string().nullable(),
  by: z.string().describe('The person.'),
  at: z.iso.datetime(),
})

export const feedbackView = ({ value, note, by, at }: Feedback): z.output<typeof FeedbackSchema> => ({
  value,
  note,
  by,
  at: isoTime(at),
})

/** For each message of which somebody thinks something: the member `feedback` that it carries in lists. */
export function feedbackOf(all: readonly Feedback[]) {
  const byMessage = Map.groupBy(all, ({ messageId }) => messageId)
  return (messageId: string): { feedback?: z.output<typeof FeedbackSchema>[] } => {
    const own = byMessage.get(messageId)
    return own === undefined ? {} : { feedback: own.map(feedbackView) }
  }
}
