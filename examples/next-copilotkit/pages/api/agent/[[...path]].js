import { createQuarterdeck } from 'quarterdeck'

// One for the whole process: in development Next loads this file again after every change.
globalThis.quarterdeck ??= createQuarterdeck({ agent: './agent.yaml', basePath: '/api/agent' })

// Quarterdeck reads request bodies itself, and it answers when the agent does.
export const config = { api: { bodyParser: false, externalResolver: true } }

export default function handler(request, response) {
  // Your own login belongs here. After it, use the token of this user: `quarterdeck tokens create --role user` makes one.
  request.headers.authorization = `Bearer ${process.env.QUARTERDECK_TOKEN}`
  globalThis.quarterdeck.handler(request, response)
}
