export default {
  // Loaded as it is: it has workers and files of its own, which a bundle would leave behind.
  serverExternalPackages: ['quarterdeck'],
}
