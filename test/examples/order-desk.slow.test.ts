import { expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { copyExample, OPERATOR_TOKEN } from './copied-example.ts'

test('order-desk passes its own test cases', async () => {
  const { quarterdeck } = await copyExample('order-desk')
  expect(await quarterdeck('test')).toContain('4 of 4 test cases passed')
})

test('order-desk pays a small sum at once, and a large one after a yes', async () => {
  const { start } = await copyExample('order-desk')
  const { url } = await start()
  const client = createClient({ url, token: OPERATOR_TOKEN })
  const refund = (amount: number) => client.send('desk', `refund_order {"order": "1042", "amount": ${amount}}`)
  const ended = async (run: string) => {
    await expect.poll(async () => (await client.run(run)).status).toMatch(/completed|waiting/)
    return client.run(run)
  }

  const small = await ended((await refund(20)).run_id)
  expect(small).toMatchObject({ status: 'completed', answer: expect.stringContaining('20 EUR paid back to ada@') })

  const { run_id } = await refund(80)
  expect((await ended(run_id)).status).toBe('waiting')
  const [asked] = await client.approvals()
  if (asked === undefined) expect.fail('nobody is asked')
  expect(asked).toMatchObject({
    tool: 'refund_order',
    arguments: { order: '1042', amount: 80 },
    preview: 'ada@example.com bought Desk lamp for 120 EUR and gets 80 EUR back.',
  })
  await client.approve(asked)
  await expect.poll(async () => (await client.run(run_id)).answer).toContain('80 EUR paid back to ada@')
})
