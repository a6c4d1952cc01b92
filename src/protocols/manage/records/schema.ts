import { z } from 'zod'
import { RecordViewSchema as WordsSchema } from '../../../supervision/records/record-view.ts'

const RequestSchema = z
  .strictObject({
    path: z.string(),
    body: z.record(z.string(), z.unknown()),
    text: z.string().nullable().describe('The field of the body for the text of the person. Null: it takes none.'),
  })
  .describe('What to POST. Add the text, the answer or the edit of the person to the body.')

/** The words of a record for a page or a program that shows it. */
export const RecordViewSchema = WordsSchema.extend({
  actions: z
    .array(WordsSchema.shape.actions.element.extend({ request: RequestSchema }))
    .describe('What can be answered now. Empty: it is over.'),
})
  .describe('The record in words. Every surface of ours shows these.')
  .meta({ id: 'RecordView' })

/** A record in words. `answer` of the client sends one of its actions. */
export type RecordView = z.output<typeof RecordViewSchema>

/** For an example in which the words stand elsewhere. */
export const withoutView = <T extends { view: unknown }>({ view: _, ...rest }: T) => rest
