// What connections need when the first request is sent. undici's main module would also load fetch, WebSockets, caches and mocks.

import api from 'undici/lib/api/index.js'
import buildConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Client from 'undici/lib/dispatcher/client.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import { DirectClient } from './direct-client.ts'

export { Agent, api, buildConnector, Client, DirectClient, Dispatcher, Pool, ProxyAgent }
