import { expect, test } from 'vitest'
import { ServerError } from '../domain/errors.ts'
import type { ModelMessage } from './model.ts'
import { withoutQuotes } from './without-quotes.ts'

const said = (content: string): ModelMessage => ({ role: 'user', content })

test('what a provider repeats of the conversation is left out of its error', () => {
  const message = "The server refused it (400). It says: bad input_value='my password is hunter2, keep it' at /x"
  const error = new ServerError('model_bad_request', message, { details: { status: 400 } })

  const safe = withoutQuotes(error, { messages: [said('Hello'), said('Well, my password is hunter2, keep it secret')] })

  expect(safe).toMatchObject({ code: 'model_bad_request', details: { status: 400 } })
  expect(safe.message).toBe("The server refused it (400). It says: bad input_value='[…]' at /x")
})

test('an error that repeats nothing stays the same, also with words that were said', () => {
  const error = new ServerError('model_bad_request', 'The parameter temperature is not supported by this model.')
  expect(withoutQuotes(error, { messages: [said('What is the temperature in Rome?')] })).toBe(error)
})
