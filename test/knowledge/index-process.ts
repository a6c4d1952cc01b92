// Brings an index up to date until somebody kills it: node index-process.ts DOCUMENTS DATABASE

import { INDEX, openIndex } from './open-index.ts'

const [documents = '', path = ''] = process.argv.slice(2)
const work = await openIndex({ documents, path, listener: { progress: () => process.send?.('progress') } })
await work.update(INDEX)
await work.close()
