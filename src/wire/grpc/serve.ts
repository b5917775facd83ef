import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { messageOf, Unavailable } from '#base/errors.ts';
import type { MethodName, RequestOf, ResponseOf, ServiceDefinition } from './definition.ts';
import { grpcStatus } from './failure.ts';

/** One function for each method of a service: an answer, or the messages of a stream until its signal is aborted. */
export type GrpcHandlers<S extends ServiceDefinition> = {
  readonly [M in MethodName<S>]: S['methods'][M]['responseStream'] extends true
    ? (request: RequestOf<S, M>, signal: AbortSignal) => AsyncIterable<ResponseOf<S, M>>
    : (request: RequestOf<S, M>, signal: AbortSignal) => Promise<ResponseOf<S, M>>;
};

export interface GrpcServer {
  /** Calls in flight are cut off, the socket is removed. May be called twice. */
  close(): Promise<void>;
}

/**
 * Serves one service on a unix socket, whose path must be free.
 *
 * @throws {Unavailable} when the socket cannot be made
 */
export async function serveGrpc<S extends ServiceDefinition>(socketPath: string, service: S, handlers: GrpcHandlers<S>): Promise<GrpcServer> {
  const server = new Server({ 'grpc.max_receive_message_length': maxMessageBytes });
  const methods = Object.entries(service.methods).map(([key, { name, requestType, responseType, responseStream }]) => {
    // Codecs of one method take each other's messages; the compiler cannot follow that through the index.
    const codec = (type: unknown) => type as { encode(message: unknown): { finish(): Uint8Array }; decode(input: Uint8Array): unknown };
    const serializer = (type: unknown) => (message: unknown) => Buffer.from(codec(type).encode(message).finish());
    const deserializer = (type: unknown) => (bytes: Buffer) => codec(type).decode(bytes);
    const definition = {
      path: `/${service.fullName}/${name}`,
      requestStream: false,
      responseStream,
      requestSerialize: serializer(requestType),
      requestDeserialize: deserializer(requestType),
      responseSerialize: serializer(responseType),
      responseDeserialize: deserializer(responseType),
    };
    return [key, definition] as const;
  });
  const implementation = Object.entries(handlers).map(([key, handler]) => [
    key,
    service.methods[key]?.responseStream === true ? streaming(handler as never) : unary(handler as never),
  ]);
  server.addService(Object.fromEntries(methods), Object.fromEntries(implementation));
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socketPath}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(new Unavailable({ message: `socket ${socketPath}: ${error.message}`, cause: error }));
    });
  });
  return {
    async close() {
      server.forceShutdown();
    },
  };
}

const maxMessageBytes = 16 * 1024 * 1024;

function unary(handler: (request: unknown, signal: AbortSignal) => Promise<unknown>): UntypedHandleCall {
  return (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
    const abort = new AbortController();
    call.on('cancelled', () => abort.abort());
    handler(call.request, abort.signal).then(
      (response) => answer(null, response),
      (error: unknown) => answer({ code: grpcStatus.unknown, details: messageOf(error) }),
    );
  };
}

function streaming(handler: (request: unknown, signal: AbortSignal) => AsyncIterable<unknown>): UntypedHandleCall {
  return async (call: ServerWritableStream<unknown, unknown>) => {
    const abort = new AbortController();
    call.on('cancelled', () => abort.abort());
    try {
      for await (const message of handler(call.request, abort.signal)) call.write(message);
      call.end();
    } catch (error) {
      if (!abort.signal.aborted) call.emit('error', { code: grpcStatus.unknown, details: messageOf(error) });
    }
  };
}
