/**
 * Where the service is: a proxy may serve it under a path of its own. The page as it was loaded says so in its <base>; read
 * once, because the address changes as the reader moves about.
 */
export const ROOT = new URL(document.baseURI);
