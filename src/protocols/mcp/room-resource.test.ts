import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { SupervisedSession } from '../../supervision/sessions/take-step.ts'
import { createRoomResource } from './room-resource.ts'
import type { McpAgent } from './tool-table.ts'

const agent = {
  principal: { owner: 'ann', role: 'agent', hasToken: true, tokenId: 't', workspace: '/srv/a' },
  workspace: '/srv/a',
  sessionId: null,
  channelId: null,
  client: null,
  connectionId: 'c',
  isLasting: true,
} as unknown as McpAgent

async function read(uri: string, room: string | null = 'C1') {
  const asked: unknown[] = []
  const resource = createRoomResource({
    sessions: { attach: async () => ({ id: 's' }) as SupervisedSession },
    messenger: {
      roomOf: () => room,
      async recent(...what) {
        asked.push(what)
        return { messages: [{ ts: '1.0', user: 'ann', text: 'Hi' }], has_more: true }
      },
    },
  })
  try {
    const text = await resource.read(new URL(uri), { agent, signal: new AbortController().signal })
    return { asked, ...JSON.parse(text) }
  } catch (error) {
    return error instanceof ServerError ? error.code : error
  }
}

describe('the recent messages of a channel', () => {
  test('are those of the session’s own channel', async () => {
    expect(await read('slack://channel/C1/recent?limit=7')).toEqual({
      asked: [['C1', 7]],
      messages: [{ ts: '1.0', user: 'ann', text: 'Hi' }],
      has_more: true,
    })
    expect(await read('slack://channel/C1/recent')).toMatchObject({ asked: [['C1', 20]] })
  })

  test.each([
    ['slack://channel/C2/recent', 'C1', 'record_not_found'],
    ['slack://channel/C1/../C2/recent', 'C1', 'record_not_found'],
    ['slack://channel/C1/recent', null, 'no_channel'],
    ['slack://channel/C1/recent?limit=0', 'C1', 'invalid_request'],
    ['slack://channel/C1/recent?limit=101', 'C1', 'invalid_request'],
    ['slack://channel/C1/recent?limit=x', 'C1', 'invalid_request'],
  ])('%s is refused where the channel is %s', async (uri, room, code) => {
    expect(await read(uri, room)).toBe(code)
  })
})
