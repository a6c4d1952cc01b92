// The tools of the order desk. Put the calls to your own shop in the place of `orders`.

import { defineTool, ToolError } from 'quarterdeck'
import { z } from 'zod'

const orders = [
  { order: '1042', customer: 'ada@example.com', item: 'Desk lamp', paid: 120 },
  { order: '1043', customer: 'ben@example.com', item: 'Notebook', paid: 9 },
]

function find(order: string) {
  const found = orders.find((one) => one.order === order)
  // The model reads the message of a ToolError, and can correct its call.
  if (found === undefined) throw new ToolError(`There is no order ${order}.`)
  return found
}

const order = z.string().describe('The number of the order, for example 1042')

export const find_order = defineTool({
  description: 'Finds an order: who bought what, and how much was paid.',
  parameters: z.object({ order }),
  run: ({ order }) => find(order),
})

export const refund_order = defineTool({
  description: 'Pays money of an order back to the customer.',
  parameters: z.object({ order, amount: z.number().positive().describe('In EUR') }),
  // The person who decides sees this beside the arguments.
  preview({ order, amount }) {
    const { customer, item, paid } = find(order)
    return `${customer} bought ${item} for ${paid} EUR and gets ${amount} EUR back.`
  },
  run({ order, amount }, { callId }) {
    const { customer, paid } = find(order)
    if (amount > paid) throw new ToolError(`Only ${paid} EUR were paid for order ${order}.`)
    // Give your bank `callId` as the idempotency key.
    return `${amount} EUR paid back to ${customer}, reference ${callId}.`
  },
})
