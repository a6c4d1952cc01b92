// What connections need of undici. Its main module also loads fetch, WebSockets, caches and mocks.

import api from 'undici/lib/api/index.js'
import buildConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Client from 'undici/lib/dispatcher/client.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'

export { Agent, api, buildConnector, Client, Dispatcher, Pool, ProxyAgent }
