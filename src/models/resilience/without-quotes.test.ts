import { expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { ModelMessage } from '../model.ts'
import { withoutQuotes } from './without-quotes.ts'

const said = (content: string): ModelMessage => ({ role: 'user', content })

test('quotes from the conversation are removed from the error of a provider', () => {
  const message = "The server refused it (400). It says: bad input_value='my password is hunter2, keep it' at /x"
  const error = new ServerError('model_bad_request', message, { details: { status: 400 } })

  const safe = withoutQuotes(error, { messages: [said('Hello'), said('Well, my password is hunter2, keep it secret')] })

  expect(safe).toMatchObject({ code: 'model_bad_request', details: { status: 400 } })
  expect(safe.message).toBe("The server refused it (400). It says: bad input_value='[…]' at /x")
})

test.each([
  ['a short message', said('PIN is 4711'), 'PIN is 4711'],
  ['short lines, as one', said('Dear Ada,\nmy PIN\nis 4711 now,\nkeep it'), 'Dear Ada, my PIN is 4711 now, keep it'],
  ['lines as JSON', said('a\nb\nmy PIN\n4711\nc'), 'a\\nb\\nmy PIN\\n4711\\nc'],
  ['accents in ASCII', said('für Jürgen grün'), 'f\\u00fcr J\\u00fcrgen gr\\u00fcn'],
  [
    'arguments of a call',
    { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'pay', arguments: '{"iban":"DE02 1203 0000"}' }] },
    '{"iban":"DE02 1203 0000"}',
  ],
] satisfies [string, ModelMessage, string][])('so is %s', (_what, message, repeated) => {
  const error = new ServerError('model_bad_request', `It says: bad value '${repeated}' here.`)

  const safe = withoutQuotes(error, { messages: [message] })

  expect(safe.message).toBe("It says: bad value '[…]' here.")
})

test('an error without quotes stays the same, even if it shares words with the conversation', () => {
  const error = new ServerError('model_bad_request', 'The parameter temperature is not supported by this model.')
  expect(withoutQuotes(error, { messages: [said('What is the temperature in Rome?')] })).toBe(error)
})
