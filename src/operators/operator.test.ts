import { expect, test } from 'vitest'
import { describeOperator } from './operator.contract.ts'
import { unlessAborted } from './operator.ts'
import { createRecordingChannel } from './testing/recording-channel.ts'

describeOperator('recording', (lookup) => {
  const channel = createRecordingChannel(lookup)
  return { channel, messages: channel.messages, behave: channel.behave, press: channel.press }
})

test('what fails after the signal aborted fails unheard, and not the process', async () => {
  const unheard: unknown[] = []
  const note = (error: unknown) => void unheard.push(error)
  process.on('unhandledRejection', note)
  const work = Promise.withResolvers<string>()

  const given = unlessAborted(work.promise, AbortSignal.abort())
  await expect(given).rejects.toThrow('The delivery took too long.')
  work.reject(new Error('too late'))
  await new Promise((resolve) => setImmediate(resolve))

  process.off('unhandledRejection', note)
  expect(unheard).toEqual([])
})
