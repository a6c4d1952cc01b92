// CopilotKit's own renderer shows an app of an MCP server, which calls its server through ours.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildWeatherPage } from '../mcp-apps/build-page.ts'
import { openWeather } from '../mcp-apps/open-weather.ts'
import { buildExample } from './built-example.ts'
import { connectBrowser, openCopilotKit } from './chat-page.ts'

const SCHEMA = join(import.meta.dirname, 'copilotkit-page/node_modules/@copilotkit/mcp-apps-renderer/dist/activity.mjs')

test.each([['/copilotkit', {}] as const, ['an HttpAgent', { direct: '' }] as const])(
  'CopilotKit shows an app, which calls its server: with %s',
  async (_, query) => {
    await using page = await buildExample('copilotkit')
    await using house = await openWeather({ page: await buildWeatherPage() })
    await using browser = await connectBrowser()
    const chat = await openCopilotKit(browser, { at: page.url, server: house.url, query })

    await chat.say('the weather, please')

    const app = chat.page.frameLocator('iframe[data-testid="mcp-app-iframe"]').frameLocator('iframe')
    await app.getByText('21° in Hamburg').waitFor()
    await app.getByText('asked for Hamburg').waitFor()
    await app.getByRole('button', { name: 'Refresh' }).click()
    await app.getByText('22° in Kiel').waitFor()
    expect(await house.calls()).toBe('refresh Kiel\n')
    // Neither the page nor the call has become a message of the conversation.
    expect(await chat.said()).toEqual([
      ['user', 'the weather, please'],
      ['assistant', 'There it is.'],
    ])

    await chat.page.reload()
    await app.getByText('21° in Hamburg').waitFor()
  },
)

test('the activity is what the renderer of CopilotKit expects', async () => {
  const { MCPAppsActivityContentSchema, MCPAppsActivityType } = await import(SCHEMA)
  await using house = await openWeather()
  const sent = { role: 'user', id: 'm', content: 'the weather, please' }
  const input = { protocolVersion: '1.0', threadId: 't', runId: 'r', messages: [sent] }
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(house.url, { method: 'POST', headers, body: JSON.stringify(input) })

  const events = (await answer.text()).split('\n').flatMap((line) => line.match(/^data: (.*)$/)?.[1] ?? [])
  const [activity] = events
    .map((data) => JSON.parse(data))
    .filter(({ activityType }) => activityType === MCPAppsActivityType)
  const read = MCPAppsActivityContentSchema.safeParse(activity.content)
  expect(read).toMatchObject({ success: true, data: { serverHash: activity.messageId } })
})
