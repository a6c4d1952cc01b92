// Decides whether a request goes through a proxy, and through which one. Pure.

import { BlockList, isIP } from 'node:net'
import { ServerError } from '../domain/errors.ts'
import { proxyAddress } from '../domain/settings/proxy-address.ts'

export interface ProxyChoice {
  /** http: or https:, with the user and the password for the proxy. */
  url: URL
  /** What named it: a variable, or `model.proxy`. */
  from: string
}

/** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in upper or lower case. */
export type ProxyVariables = Readonly<Record<string, string | undefined>>

/**
 * `setting` is what the user wrote for this target: an address, or `false` for no proxy. Without it the variables decide. They never
 * send a request for this machine through a proxy, because to a proxy elsewhere `localhost` is another machine.
 * Throws `config_invalid` when the address of the proxy is not valid.
 */
export function chooseProxy(
  target: URL,
  setting: string | false | undefined,
  variables: ProxyVariables,
): ProxyChoice | null {
  if (setting === false) return null
  if (setting !== undefined) return { url: addressOf(setting, 'model.proxy'), from: 'model.proxy' }
  const found = firstSet(variables, target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY')
  if (found === null || isThisMachine(target.hostname)) return null
  if (isExempt(target, firstSet(variables, 'NO_PROXY')?.value ?? '')) return null
  return { url: addressOf(found.value, found.name), from: found.name }
}

/** The address without the user and the password. */
export const shownProxy = ({ url }: ProxyChoice): string => `${url.protocol}//${url.host}`

/** Lower case wins, as in other programs. A blank value counts as not set. */
function firstSet(variables: ProxyVariables, name: string): { name: string; value: string } | null {
  for (const one of [name.toLowerCase(), name]) {
    const value = variables[one]?.trim()
    if (value !== undefined && value !== '') return { name: one, value }
  }
  return null
}

function addressOf(text: string, from: string): URL {
  const url = proxyAddress(text)
  if (url !== null) return url
  throw new ServerError(
    'config_invalid',
    `${from} is not the http or https address of a proxy. Write e.g. http://proxy.example.com:3128`,
  )
}

const bare = (hostname: string): string =>
  hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

/** Includes 0.0.0.0 and ::, because connecting to them reaches this machine, and Ollama's users write them. */
const THIS_MACHINE = ['127.0.0.0/8', '::1/128', '::ffff:7f00:0/104', '0.0.0.0/32', '::/128']

function isThisMachine(hostname: string): boolean {
  const name = bare(hostname)
  if (name === 'localhost' || name.endsWith('.localhost')) return true
  return THIS_MACHINE.some((network) => contains(network, name))
}

/** Reads `list` as curl and Go do: names with their subdomains, addresses and networks, each with an optional port, or `*`. */
function isExempt(target: URL, list: string): boolean {
  const host = bare(target.hostname)
  const port = target.port === '' ? (target.protocol === 'https:' ? '443' : '80') : target.port
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '') return false
    if (entry === '*') return true
    const [, named = entry, only] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
    if (only !== undefined && only !== port) return false
    const name = bare(named).replace(/^\*?\./, '')
    if (name.includes('/')) return contains(name, host)
    return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`))
  })
}

function contains(network: string, ip: string): boolean {
  const [address = '', bits] = network.split('/')
  const family = isIP(address)
  if (family === 0 || family !== isIP(ip)) return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const length = Number(bits)
  if (!Number.isInteger(length) || length < 0 || length > (family === 4 ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(address, length, type)
  return list.check(ip, type)
}
