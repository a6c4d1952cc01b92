// The whole server with an agent that has the weather server, and a scripted model that shows the weather in Hamburg.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startAgentFiles } from '../e2e/agent-files-app.ts'

interface WeatherOptions {
  /** HTML of the app. */
  page?: string
  /** Lines of agent.yaml for the MCP server, or for the agent. */
  server?: string
  agent?: string
}

export async function openWeather({ page = '<p>The weather</p>', server = '', agent = '' }: WeatherOptions = {}) {
  const script = JSON.stringify(join(import.meta.dirname, 'weather-server.ts'))
  const show = { tool_call: { name: 'show_weather', arguments: { city: 'Hamburg' } } }
  const app = await startAgentFiles({
    'agent.yaml': `
name: harbour
model: { provider: scripted, script: script.json }
instructions: Show the weather.
approval: { default: never }
${agent}
tools:
  - type: mcp
    name: weather
    command: ${JSON.stringify(process.execPath)}
    args: [${script}, page.html, calls.txt]
    ${server}
`,
    'page.html': page,
    'script.json': {
      answers: [
        { when: { tool: 'show_weather' }, parts: [{ text: 'There it is.' }] },
        { when: { user: 'weather' }, parts: [show] },
        { parts: [{ text: 'Well.' }] },
      ],
    },
  })
  // Passkeys work at localhost, so the console moves there.
  const url = app.url.replace('127.0.0.1', 'localhost')
  return {
    ...app,
    url,
    link: async (path?: string) => (await app.link(path)).replace(app.url, url),
    /** The app from now on. */
    setPage: (html: string) => writeFile(join(app.directory, 'page.html'), html),
    /** What the server's tools for apps were called with. */
    calls: () => readFile(join(app.directory, 'calls.txt'), 'utf8').catch(() => ''),
  }
}
