"use strict";

const { openapi, csrf } = document.getElementById("docs").dataset;

SwaggerUIBundle({
  dom_id: "#docs",
  url: openapi,
  deepLinking: true,
  // Not sent anywhere to be judged.
  validatorUrl: null,
  requestInterceptor: (request) => {
    request.headers["X-CSRFToken"] = csrf;
    return request;
  },
});
