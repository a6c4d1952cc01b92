// A real MCP server with an app, over stdio. Its page is the file that the first argument names.

import { appendFileSync, readFileSync } from 'node:fs'
import { RESOURCE_MIME_TYPE, registerAppResource, registerAppTool } from '@modelcontextprotocol/ext-apps/server'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const [page = '', calls = ''] = process.argv.slice(2)
const PAGE = 'ui://weather/view.html'
const server = new McpServer({ name: 'weather', version: '1.0.0' })
const city = z.object({ city: z.string() })
const text = (said: string) => [{ type: 'text' as const, text: said }]

registerAppTool(
  server,
  'show_weather',
  { description: 'Shows the weather in a city.', inputSchema: city, _meta: { ui: { resourceUri: PAGE } } },
  ({ city }) => ({
    content: text(`Fine in ${city}.`),
    structuredContent: { city, degrees: 21 },
    _meta: { secretOfThePage: 'only for the page' },
  }),
)
for (const [name, visibility] of [
  ['refresh', ['app']],
  ['drop_city', ['app']],
  ['ask_model', ['model']],
] as const) {
  registerAppTool(
    server,
    name,
    { description: `The tool ${name}.`, inputSchema: city, _meta: { ui: { visibility: [...visibility] } } },
    ({ city }) => {
      if (calls !== '') appendFileSync(calls, `${name} ${city}\n`)
      const { extensions } = server.server.getClientCapabilities() ?? {}
      return { content: text(`${name} ${city}`), structuredContent: { city, degrees: 22 }, _meta: { extensions } }
    },
  )
}
registerAppResource(server, 'The weather', PAGE, {}, () => ({
  contents: [
    {
      uri: PAGE,
      mimeType: RESOURCE_MIME_TYPE,
      text: page === '' ? '<p>The weather</p>' : readFileSync(page, 'utf8'),
      _meta: { ui: { csp: { connectDomains: ['https://api.example.org'] } } },
    },
  ],
}))
server.registerResource('Private', 'file:///private', {}, () => ({
  contents: [{ uri: 'file:///private', text: 'private' }],
}))

await server.connect(new StdioServerTransport())
