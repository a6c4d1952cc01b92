import { createConnections } from '../../../outgoing/connections.ts'
import {
  createServiceHttp,
  MAX_BODY_BYTES,
  type Network,
  type ServiceHttp,
  systemNetwork,
} from '../service/service-http.ts'

/** Sends real requests, without a proxy. */
export function openServiceHttp(network: Partial<Network> = {}, connections = createConnections()): ServiceHttp {
  const pool = connections.pool({ proxyVariables: null })
  return createServiceHttp({
    connections,
    pool,
    network: { ...systemNetwork, ...network },
    maxBytes: MAX_BODY_BYTES,
  })
}
