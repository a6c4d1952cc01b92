import type { ClientToolSettings } from '../domain/tool-settings.ts'
import type { ClientTool } from './tool.ts'
import { boundTool } from './tool-binding.ts'

/** The `client` kind: declared here, run by whoever talks to the agent. */
export const createClientTool = (settings: ClientToolSettings): ClientTool => ({
  location: 'client',
  // The client decides what its tool does, so we cannot bind more than the shape of the result.
  ...boundTool('client', settings, { returns: settings.returns }),
})
