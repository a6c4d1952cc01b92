// Which doors there are. This is data alone: whoever needs only names and words, as the settings do, loads no protocol with them.

/** In the order in which they are listed everywhere. `createRoutes` does not compile without the code of each. */
export const doors = [
  {
    name: 'ag-ui',
    title: 'AG-UI',
    home: ['POST /', 'AG-UI; /copilotkit is the runtimeUrl of CopilotKit'],
    banner: ({ url }) => [`${url}/`, ['CopilotKit', `${url}/copilotkit  (as runtimeUrl)`]],
  },
  {
    name: 'rest',
    title: 'REST',
    home: ['POST /chat', 'REST'],
    banner: ({ url }) => [`${url}/chat`, `${url}/agent/{name}/chat`],
  },
  {
    name: 'threads',
    title: 'Threads',
    home: ['GET  /threads', 'threads; POST /chat with a thread_id talks to one'],
    banner: ({ url }) => [`${url}/threads`],
  },
  {
    name: 'openai',
    title: 'OpenAI',
    home: ['POST /v1/responses', 'OpenAI’s API; /v1 is the baseURL'],
    banner: ({ url }) => [`${url}/v1  (as baseURL)`],
  },
  {
    name: 'ai',
    title: 'useChat',
    home: ['POST /ai/chat', 'the AI SDK; /ai/chat is the api of its DefaultChatTransport'],
    banner: ({ url }) => [`${url}/ai/chat  (as api of useChat)`],
  },
  {
    name: 'mcp',
    title: 'MCP',
    home: ['POST /mcp', 'MCP, for coding agents that you supervise'],
    banner({ url, program, dataDirFlag, hasOperator }) {
      // Without an operator nobody can connect an agent, or answer it.
      if (!hasOperator) return []
      return [
        `${url}/mcp`,
        `to connect a coding agent: ${program} connect claude --url ${url}`,
        `to answer it: ${program} ctl watch${dataDirFlag}`,
      ]
    },
  },
] as const satisfies readonly DeclaredDoor[]

/** A door is a family of routes that the setting `protocols` can close. */
export type Door = (typeof doors)[number]['name']

export const doorNames: readonly Door[] = doors.map(({ name }) => name)

/** What may be known of a door before its code is loaded. The settings, the page at `/` and the banner read it. */
interface DeclaredDoor {
  /** The word for it in the setting `protocols`. */
  name: string
  title: string
  /** For the page at `/`: its first route, and what that is. */
  home: readonly [route: string, what: string]
  /**
   * What `serve` prints at its start: addresses, and what to do with them. A text of its own stands below the one before it, the
   * first beside the title.
   */
  banner(at: BannerPlace): readonly (string | readonly [label: string, text: string])[]
}

interface BannerPlace {
  url: string
  /** How the program is called here. */
  program: string
  /** The flag that leads a command to this server, with a space before it. Empty: it finds the server without. */
  dataDirFlag: string
  /** Somebody can decide. */
  hasOperator: boolean
}
